"""Explanations by attention are the model's own weights, laid on the reader's own words."""

import math
from dataclasses import replace

import pytest
import torch

from regard.data.batch import collate
from regard.errors import ConfigError
from regard.explain.answers import Answers, likeliest
from regard.explain.attention import explain
from regard.explain.methods import METHODS
from regard.models import MODELS
from regard.models.base import Attention, Output
from regard.models.flat import FlatConfig
from regard.models.han import HANConfig
from regard.models.importance import importance
from regard.nn.pooling import POOLINGS
from regard.text.tokenize import tokenize
from regard.text.vocab import UNKNOWN, Vocab

TEXTS = (
    "It was Brilliant! I laughed, 😀 and laughed.\n\nZorblax agrees.",
    "",
    "One",
    "The <b>end</b>. \u05d0\u05d1 漢字。 a\ud800b.",
    "   \n ",
)
SMALL = HANConfig(embedding_size=6, hidden_size=4, attention_size=5)
CLASSES = ("neg", "pos")


def answers(config=SMALL, texts=TEXTS, labels=None, **caps) -> Answers:
    torch.manual_seed(0)
    complete = tuple(map(tokenize, texts))
    tokens = [text.truncated(**caps) for text in complete]
    known = sorted({word.lower() for text in tokens for word in text.words()} - {"zorblax"})
    batch = collate(tokens, Vocab(known), labels)
    model = config.build(vocab_size=len(known) + 2, label_count=2).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3)  # fresh weights are nearly even; these are not
        output = model(batch)
    likely = output.logits.softmax(-1)
    return Answers(model, batch, output, likely, CLASSES, likeliest(likely), complete)


def flat(values: torch.Tensor, made: Answers) -> Answers:
    """The same batch, answered by a model that weighs all words of a document together."""
    rows = made.batch.by_document.with_values(values)
    layer = Attention("word", by="document", over="token", weights=rows)
    return replace(made, output=Output(made.output.logits, (layer,)))


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("encoder", ["recurrent", "none"])
def test_weights_are_not_negative_and_sum_to_one(pooling, encoder):
    """000-05: over the words of each sentence and the sentences of each document."""
    made = answers(replace(SMALL, pooling=pooling, encoder=encoder))
    for found, text in zip(explain(made), made.batch.texts, strict=True):
        words, sentences = found.decisions[0].level("word"), found.decisions[0].level("sentence")
        assert (words.by, sentences.by) == ("sentence", "document")
        assert min((*words.values, *sentences.values), default=0) >= 0
        first = 0
        for count in text.per_sentence:
            assert math.fsum(words.values[first : first + count]) == pytest.approx(1, abs=1e-9)
            first += count
        assert first == len(words)
        if len(text):
            assert math.fsum(sentences.values) == pytest.approx(1, abs=1e-9)
            shares = found.decisions[0].importance().values
            assert math.fsum(shares) == pytest.approx(1, abs=1e-9)


def test_every_weight_is_the_models_own_and_lies_on_its_word():
    """001-23: offsets map back to the raw text, emoji, tags and lone surrogates included."""
    made = answers()
    words, sentences = made.output.attention
    found = explain(made)
    for name, layer in (("word", words), ("sentence", sentences)):
        laid = [v for one in found for v in one.decisions[0].level(name).values]
        assert laid == pytest.approx(layer.weights.values.tolist(), abs=1e-6)
    spans = found[0].decisions[0].level("word").pieces
    assert [TEXTS[0][start:end] for start, end in spans] == made.batch.texts[0].words()
    assert [one.source for one in found] == list(TEXTS)


def test_each_document_gets_its_answer_and_all_probabilities():
    made = answers()
    for place, found in enumerate(explain(made)):
        row = made.probabilities[place].tolist()
        assert found.probabilities == tuple(zip(CLASSES, row, strict=True))
        assert found.label == CLASSES[row.index(max(row))]
        assert found.probability == max(row)
        assert found.method == "attention"
        assert found.receipt is None


def test_company_changes_no_explanation():
    """A document alone and in a batch is explained alike."""
    together = explain(answers())
    for text, expected in zip(TEXTS, together, strict=True):
        made = answers()
        batch = collate([tokenize(text)], Vocab(_known(made)))
        output = made.model(batch)
        alone = replace(
            made,
            batch=batch,
            output=output,
            probabilities=output.logits.softmax(-1),
            chosen=likeliest(output.logits),
            complete=(),
        )
        (found,) = explain(alone)
        for mine, theirs in zip(
            found.decisions[0].weights, expected.decisions[0].weights, strict=True
        ):
            assert mine.pieces == theirs.pieces
            assert mine.values == pytest.approx(theirs.values, abs=1e-5)


def _known(made: Answers) -> list[str]:
    words = {word.lower() for text in made.batch.texts for word in text.words()}
    return sorted(words - {"zorblax"})


def test_unknown_words_are_found():
    made = answers()
    found = explain(made)
    assert [TEXTS[0][start:end] for start, end in found[0].unknown] == ["Zorblax"]
    assert sum(len(one.unknown) for one in found) == int((made.batch.ids.values == UNKNOWN).sum())


def test_what_caps_cut_off_is_unread():
    found = explain(answers(sentences=1, tokens=2))
    assert [TEXTS[0][start:end] for start, end in found[0].unread] == [
        TEXTS[0][TEXTS[0].index("Brilliant") :]
    ]
    assert len(found[0].decisions[0].level("word")) == 2
    assert all(one.unread == () for one in explain(answers()))
    assert all(one.unread == () for one in explain(replace(answers(sentences=1), complete=())))


def test_true_labels_come_from_the_batch():
    assert explain(answers())[0].true_labels is None
    found = explain(answers(labels=torch.tensor([1, 0, 1, 1, 0])))
    assert [one.true_labels for one in found] == [("pos",), ("neg",), ("pos",), ("pos",), ("neg",)]
    several = torch.tensor([[1.0, 1], [0, 0], [0, 1], [1, 0], [0, 0]])
    found = explain(answers(labels=several))
    assert [one.true_labels for one in found[:3]] == [("neg", "pos"), (), ("pos",)]


def test_several_labels_share_the_weights():
    made = answers()
    found = explain(replace(made, chosen=((1, 0),) * len(TEXTS)))
    for one in found:
        assert [decision.label for decision in one.decisions] == ["pos", "neg"]
        assert one.decisions[0].weights == one.decisions[1].weights


def test_a_flat_model_weighs_words_and_the_sentences_by_their_sum():
    made = answers()
    counts = [len(text) for text in made.batch.texts]
    torch.manual_seed(1)
    drawn = [torch.rand(count).softmax(0) for count in counts]
    for found, values, text in zip(
        explain(flat(torch.cat(drawn), made)), drawn, made.batch.texts, strict=True
    ):
        words, sentences = found.decisions[0].weights
        assert words.by == "document"
        assert words.values == pytest.approx(values.tolist(), abs=1e-6)
        expected = [float(row.sum()) for row in values.split(text.per_sentence.tolist())]
        assert sentences.values == pytest.approx(expected, abs=1e-6)
        assert sentences.pieces == tuple(text.sentence_spans())
        assert found.decisions[0].importance() is words


def test_several_hops_are_kept_and_their_mean_is_shown():
    """004-10: each hop sums to one."""
    made = answers(replace(SMALL, pooling="structured", hops=3))
    layer = made.output.attention[0].weights.values
    found = explain(made)[0].decisions[0].level("word")
    assert len(found.hops) == 3
    for hop in range(3):
        assert found.hops[hop] == pytest.approx(layer[: len(found), hop].tolist(), abs=1e-6)
    assert found.values == pytest.approx(layer[: len(found)].mean(1).tolist(), abs=1e-6)


def test_rounding_of_half_precision_is_made_good():
    made = answers()
    halves = torch.cat(
        [torch.full((max(len(t), 0),), 1 / max(len(t), 1)) for t in made.batch.texts]
    )
    found = explain(flat(halves.to(torch.bfloat16), made))
    assert math.fsum(found[0].decisions[0].weights[0].values) == pytest.approx(1, abs=1e-12)


def test_a_model_without_weights_is_refused_kindly():
    made = answers()
    with pytest.raises(ConfigError, match=r"no attention weights .* pooling 'attention'"):
        explain(replace(made, output=Output(made.output.logits)))


@pytest.mark.parametrize("kept", [0, 1], ids=["words", "sentences"])
def test_a_model_that_weighs_one_level_is_explained_by_that_level(kept):
    made = answers()
    output = replace(made.output, attention=(made.output.attention[kept],))
    for found in explain(replace(made, output=output)):
        assert [weights.name for weights in found.decisions[0].weights] == [
            ("word", "sentence")[kept]
        ]


def test_a_batch_of_no_documents_has_no_explanations():
    assert explain(answers(texts=())) == []


def test_the_table_knows_the_method():
    assert METHODS["attention"].explain is explain


@pytest.mark.parametrize("pooling", ["attention", "structured"])
@pytest.mark.parametrize("length_corrected", [False, True])
def test_importance_is_the_same_in_a_batch_and_in_a_record(pooling, length_corrected):
    """001-13: the product of the levels has one definition, for tensors and for plain data."""
    made = answers(replace(SMALL, pooling=pooling))
    rows = importance(made.output, made.batch, length_corrected=length_corrected).rows()
    for found, expected in zip(explain(made), rows, strict=True):
        shares = found.decisions[0].importance(length_corrected=length_corrected)
        assert shares.values == pytest.approx(expected.tolist(), abs=1e-6)


def test_importance_of_a_flat_model_is_its_own_weights():
    made = answers(FlatConfig(embedding_size=6, hidden_size=4, attention_size=5))
    rows = importance(made.output, made.batch).rows()
    for found, expected in zip(explain(made), rows, strict=True):
        assert found.decisions[0].importance().values == pytest.approx(expected.tolist(), abs=1e-6)


@pytest.mark.parametrize("config", MODELS.values(), ids=MODELS)
def test_every_model_can_be_explained_and_drawn(config):
    small = config(embedding_size=6, hidden_size=5, attention_size=5)
    for found in explain(answers(small, labels=torch.tensor([1, 0, 1, 1, 0]), sentences=2)):
        assert found.to_html().endswith("</html>\n")
        assert found.to_text()
        assert type(found).from_json(found.to_json()) == found
