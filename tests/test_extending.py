"""A newcomer's day: each kind of part is added here with one registration, and is then everywhere.

Nothing else is touched: the contract tests take the newcomer, docs list it, commands know it.
"""

import inspect
import json
import re
import runpy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from typer.testing import CliRunner

from contracts import test_models, test_poolings, test_scores
from regard import Translator
from regard.audit.run import AuditOptions, audit
from regard.cli.inputs import open_documents
from regard.cli.main import app
from regard.cli.output import show
from regard.cli.tasks import TASKS
from regard.cli.tasks.task import Task, describe_saved
from regard.data.columns import Columns, Row
from regard.data.formats.rows import RowEncoder
from regard.data.formats.table import FORMATS, Format
from regard.data.readers import read_documents
from regard.data.writers import RowWriter
from regard.errors import ConfigError, DataError
from regard.estimators.card import Card
from regard.estimators.folder import open_folder, write_folder
from regard.explain.answers import explanations
from regard.explain.methods import METHODS, Method
from regard.models import MODELS, PAIR_MODELS, HANConfig, TransformerConfig
from regard.models.base import Attention, Model, Output, check_imposed
from regard.models.words import WordEmbedding
from regard.nn.attention import SCORES, ProductScore
from regard.nn.encoders import ENCODERS, NoEncoder
from regard.nn.pooling import POOLINGS, MeanPooling, Pooled, Pooling
from regard.nn.rows import row_weighted_sum
from regard.records.measures import MEASURES, Measure
from regard.records.weights import Weights
from regard.text.document import Document
from regard.views.audit.terminal import summary as audit_lines
from support.random_ids import small
from support.reviews import reviews, tiny

AUDITED = [Document(*pair) for pair in zip(*reviews(4, seed=3), strict=True)]
ROOT = Path(__file__).resolve().parents[1]


class LoudScore(ProductScore):
    """query · 3 key, a newcomer's score."""

    same_size = True

    def prepare(self, keys):
        return keys.with_values(3 * keys.values)


class FirstPooling(Pooling):
    """The first item of each row, a newcomer's pooling."""

    def forward(self, items, weights=None):
        if weights is None:
            places = torch.arange(len(items.values))
            weights = (places == items.offsets[items.row_ids]).to(items.values.dtype)
        return Pooled(row_weighted_sum(items, weights), items.with_values(weights))


@dataclass(frozen=True)
class BagConfig:
    """The mean of all words, a newcomer's model."""

    name: ClassVar[str] = "bag"
    embedding_size: int = 20

    def build(self, *, vocab_size, label_count):
        return Bag(self, vocab_size, label_count)


class Bag(Model):
    """Knows neither sentences nor order."""

    def __init__(self, config, vocab_size, label_count):
        super().__init__()
        self.embedding = WordEmbedding(vocab_size, config.embedding_size)
        self.pooling = MeanPooling(config.embedding_size, None)
        self.classify = nn.Linear(config.embedding_size, label_count)

    def from_vectors(self, words, batch, impose=None):
        check_imposed(impose or {}, {"word": len(words.values)})
        rows = batch.by_document.with_values(words.values)
        pooled = self.pooling(rows, (impose or {}).get("word"))
        layer = Attention("word", by="document", over="token", weights=pooled.weights)
        return Output(self.classify(pooled.vectors), (layer,))


def keeps(contract, newcomer):
    """Run every test of a contract on a newcomer."""
    tests = inspect.getmembers(contract, lambda member: inspect.isfunction(member))
    names = [name for name, _ in tests if name.startswith("test_")]
    for name in names:
        getattr(contract(), name)(newcomer)
    return len(names)


def page(name):
    """A page of the docs as scripts/tables would write it now."""
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    return runpy.run_path(str(ROOT / "scripts" / "tables"))["filled"](text)


def help_of(command):
    """The help of a command, its lines joined; a line may end behind a hyphen."""
    shown = CliRunner().invoke(app, [command, "--help"]).output
    return " ".join(re.sub(r"(?<=\w-)\n\s+", "", shown).split())


def test_a_score(monkeypatch):
    monkeypatch.setitem(SCORES, "loud", LoudScore)
    assert help_of("train").count(f"{', '.join(SCORES)}") == 2, "of classifiers and translators"
    assert keeps(test_scores.TestEveryScore, LoudScore) > 5
    assert "| `loud` | query · 3 key, a newcomer's score. |" in page("models.md")
    fitted = tiny(network__score="loud", training__epochs=1).fit(*reviews(40))
    assert isinstance(fitted.model_.network.words.pooling.score, LoudScore)


def test_a_pooling(monkeypatch):
    monkeypatch.setitem(POOLINGS, "first", FirstPooling)
    assert "structured, first" in help_of("train")
    assert keeps(test_poolings.TestEveryPooling, FirstPooling) > 5
    assert "| `first` | The first item of each row, a newcomer's pooling. |" in page("models.md")
    fitted = tiny(network__pooling="first", training__epochs=1).fit(*reviews(40))
    assert isinstance(fitted.model_.network.sentences.pooling, FirstPooling)


class ParagraphEncoder(RowEncoder):
    """A paragraph for each row, its cells one a line."""

    def encode(self, rows, first):
        return "".join("\n".join(map(str, row.values())) + "\n\n" for row in rows).encode()


def paragraph_rows(lines, columns):
    """Walk through paragraphs, each a text."""
    whole = "".join(line for line, _ in lines)
    for number, text in enumerate(whole.strip().split("\n\n"), 1):
        yield Row(number, {columns.text: text})


PARAGRAPHS = Format(
    title="texts with blank lines between them, a newcomer's format",
    suffixes=(".par",),
    read_lines=paragraph_rows,
    write=lambda dialect: ParagraphEncoder(),
)


def test_a_file_format(monkeypatch, fitted, tmp_path):
    monkeypatch.setitem(FORMATS, "paragraphs", PARAGRAPHS)
    new, answers = tmp_path / "new.par", tmp_path / "answers.par"
    new.write_text("Great food.\nI liked it.\n\nAwful service.\n")
    texts = [document.text for document in read_documents(new, Columns(label=None))]
    assert texts == ["Great food.\nI liked it.", "Awful service."]
    fitted.save(tmp_path / "model")
    asked = ["predict", str(tmp_path / "model"), str(new), "--out", str(answers), "-q"]
    ran = CliRunner().invoke(app, asked)
    assert ran.exit_code == 0, ran.output
    told = [part.split("\n") for part in answers.read_text().split("\n\n")[:2]]
    assert [lines[-3] for lines in told] == [str(label) for label in fitted.predict(texts)]
    assert "\n  .par " in CliRunner().invoke(app, ["predict", "--help"]).output
    assert f"| `.par` | {PARAGRAPHS.title} |" in page("data.md")
    with pytest.raises(DataError, match=r"known are \.csv, .*, \.par, and folders"):
        read_documents(tmp_path / "new.doc")
    with pytest.raises(DataError, match=r"cannot be written; .*\.par"):
        RowWriter("answers.pra")


def test_a_document_model(monkeypatch):
    monkeypatch.setitem(MODELS, "bag", BagConfig)
    assert "--model han, flat, cahan, bert-han, hierarchical-transformer, bag " in help_of("train")
    assert keeps(test_models.TestEveryModel, small(BagConfig)) > 15
    assert "| `bag` | The mean of all words, a newcomer's model. |" in page("models.md")


class Doubling(NoEncoder):
    """Twice every vector, a newcomer's encoder."""

    def forward(self, items):
        return items.with_values(2 * items.values)

    def from_table(self, table, index):
        return self(super().from_table(table, index))


def test_an_encoder(monkeypatch):
    monkeypatch.setitem(ENCODERS, "doubling", lambda config: Doubling(config.size))
    settings = replace(small(HANConfig), encoder="doubling")
    assert keeps(test_models.TestEveryModel, settings) > 15
    with pytest.raises(ConfigError, match="did you mean 'doubling'"):
        HANConfig(encoder="dubling")


@dataclass(frozen=True)
class TinyConfig(TransformerConfig):
    """A newcomer's network that writes."""

    name: ClassVar[str] = "tiny"

    hidden_size: int = 16


def test_a_network_that_writes(monkeypatch, tmp_path):
    monkeypatch.setitem(PAIR_MODELS, "tiny", TinyConfig)
    assert "--model seq2seq, transformer, tiny, " in help_of("train")
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("en\tde\n" + "one two\teins zwei\n" * 20)
    asked = ["train", str(pairs), "--task", "translate", "--source-column", "en"]
    asked += ["--target-column", "de", "--model", "tiny", "--set", "units.kind=words"]
    ran = CliRunner().invoke(
        app, [*asked, "--set", "training.epochs=1", "--out", str(tmp_path / "model"), "-q"]
    )
    assert ran.exit_code == 0, ran.output
    assert Translator.load(tmp_path / "model").settings_.network.name == "tiny"


def first_words(answers):
    """Every word but the first weighs little."""
    decisions = []
    for place, text in enumerate(answers.batch.texts):
        spans = tuple((start, end) for start, end in text.spans.tolist())
        scores = [1.0 if not number else 0.1 / number for number in range(len(spans))]
        words = Weights.from_scores("word", spans, scores, unit="nothing")
        chosen = answers.chosen[place]
        decisions.append([answers.decision(place, number, (words,)) for number in chosen])
    return explanations(answers, "first", decisions)


def test_an_explanation_method(monkeypatch, fitted, tmp_path):
    monkeypatch.setitem(METHODS, "first", Method(first_words, "a newcomer's method", readings=1))
    found = audit(fitted, AUDITED, AuditOptions(needle=False))
    assert "first" in [one.method for one in found.rankings]
    assert "first" in audit_lines(found) and ">first<" in found.to_html()
    fitted.save(tmp_path / "model")
    told = tmp_path / "told.jsonl"
    asked = ["explain", str(tmp_path / "model"), "--text", "Great food.", "--out", str(told)]
    ran = CliRunner().invoke(app, [*asked, "--method", "first"])
    assert ran.exit_code == 0 and json.loads(told.read_text())["method"] == "first", ran.output
    wrong = CliRunner().invoke(app, [*asked, "--method", "fist"])
    assert "did you mean 'first'" in str(wrong.exception) + wrong.output
    shown = " ".join(CliRunner().invoke(app, ["explain", "--help"]).output.split())
    assert "lime, first" in shown or "lime or first" in shown
    assert "| `first` | a newcomer's method |" in page("explanations.md")


def share_at_the_start(explanation):
    """How much of the weight is on the first word, beside what an even share is."""
    words = explanation.decisions[0].level("word")
    return abs(words.values[0]), 1 / len(words)


AT_THE_START = Measure(
    "Weight of the first word",
    "agreement",
    "share of the weight, a newcomer's measure",
    better="low",
    baseline="even weights",
    heading="First word",
    meaning="How much the first word weighs.",
    take=share_at_the_start,
)


def test_an_audit_measure(monkeypatch, fitted):
    monkeypatch.setitem(MEASURES, "first_word", AT_THE_START)
    found = audit(fitted, AUDITED, AuditOptions(methods=("attention",), needle=False))
    metric = found.ranking("attention").metric("first_word")
    assert (metric.documents, metric.better, metric.baseline_name) == (4, "low", "even weights")
    assert any(line.startswith("  Weight of the first word") for line in audit_lines(found))
    drawn = found.to_html()
    assert "Weight of the first word: lower is better" in drawn  # the table
    assert "How much the first word weighs." in drawn  # the column of the overview
    assert "| `first_word` | Weight of the first word: share of the weight" in page("trust.md")


@pytest.mark.parametrize("name", ["models.md", "explanations.md", "data.md", "trust.md"])
def test_the_tables_of_the_docs_are_what_the_code_has(name):
    """Run scripts/tables after a change of a table."""
    assert page(name) == (ROOT / "docs" / name).read_text(encoding="utf-8")


def train_counter(asked):
    """Learn how many words a text has: the mean of those that are known."""
    reader = open_documents(asked.data, Columns(text=asked.text_column, label=None))
    lengths = [float(len(document.text.split())) for document in reader]
    mean = torch.tensor(lengths).mean()
    about = {"task": "count", "model": "mean", "facts": {"texts": len(lengths)}}
    parts = {"weights.safetensors": lambda path: save_file({"mean": mean}, path)}
    write_folder(asked.out, about, parts, COUNTER_CARD)


COUNTER_CARD = Card(
    title="A counter of words",
    commands=("regard evaluate FOLDER new.csv",),
    python=("from counters import Counter",),
    sections=(),
    mind=("It reads nothing but spaces.",),
)


def read_counter(model):
    """The mean that a counter has learnt."""
    opened = open_folder(model, "count", says=(), parts=("weights.safetensors",))
    return float(load_file(opened.part("weights.safetensors"))["mean"])


def evaluate_counter(asked):
    reader = open_documents(asked.data, Columns(text=asked.text_column or "text", label=None))
    lengths = [len(document.text.split()) for document in reader]
    mean = read_counter(asked.model)
    show(f"off by {sum(abs(length - mean) for length in lengths) / len(lengths):.2f} words")


def explain_counter(asked):
    show(f"it had {read_counter(asked.model):.0f} words, as texts have")


COUNT = Task(
    noun="counter",
    options={"train": (), "evaluate": (), "explain": ()},
    instead={"look": "it looks at nothing", "diff": "compare their means", "audit": "trust it"},
    train=train_counter,
    evaluate=evaluate_counter,
    explain=explain_counter,
    describe=lambda folder: describe_saved(folder, {"task": "count"}, {"network": {"size": 1}}),
    choices=lambda: {"--model": ["mean"]},
)


def test_a_task(monkeypatch, tmp_path):
    monkeypatch.setitem(TASKS, "count", COUNT)
    data, model = tmp_path / "texts.csv", tmp_path / "model"
    data.write_text("text\none two three\none\n")

    def run(*arguments):
        return CliRunner().invoke(app, [*map(str, arguments)])

    shown = help_of("train")
    assert f"What to learn: {', '.join(TASKS)[: -len(', count')]} or count." in shown
    assert "Names for --task count: --model mean" in shown
    assert run("train", data, "--task", "count", "--out", model).exit_code == 0
    card = (model / "card.md").read_text()
    assert card.startswith("# A counter of words\n") and "| texts | `2` |" in card
    assert "regard evaluate FOLDER new.csv" in card and "It reads nothing but spaces." in card
    assert run("evaluate", model, data).output == "off by 1.00 words\n"
    assert run("explain", model, "--text", "a b c d").output == "it had 2 words, as texts have\n"
    assert re.search(r"^task +count\n(.*\n)*network.size +1$", run("info", model).output, re.M)
    for command in ("predict", "translate", "look"):
        problem = run(command, model, data).exception
        assert f"holds a counter, which regard {command} does not take" in str(problem)
    problem = run("train", data, "--task", "count", "--test", data, "--out", model).exception
    assert "--test cannot be used with --task count" in str(problem)
    assert f"there are {', '.join(sorted(TASKS))}" in str(
        run("train", data, "--task", "sing", "--out", model).exception
    )


def test_a_method_of_explanation_is_named_in_help(monkeypatch):
    method = Method(METHODS["attention"].explain, "a newcomer's method", readings=1)
    monkeypatch.setitem(METHODS, "newcomer", method)
    for command in ("explain", "audit", "diff"):
        assert "contrast, lime or newcomer" in help_of(command)
