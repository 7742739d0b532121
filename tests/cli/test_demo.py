"""``regard demo``: what it does with the texts; the whole of it runs with ``make demo``."""

from regard import Document
from regard.cli.demo import _sides


def test_the_texts_of_one_file_are_on_one_side():
    documents = [Document(f"text {n}", "numpy", {"file": f"file {n % 40}"}) for n in range(200)]
    training, test = _sides(documents, seed=0)
    assert len(training) + len(test) == len(documents)
    assert 0.1 < len(test) / len(documents) <= 0.2
    files = [{document.fields["file"] for document in side} for side in (training, test)]
    assert not files[0] & files[1]
    assert _sides(documents, seed=0)[1] == test != _sides(documents, seed=1)[1]
