"""Translators from the shell: trained, evaluated, explained and described."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ...data.formats.lines import STANDARD_INPUT
from ...errors import DataError
from ...estimators.named import TRANSLATOR_PARTS, translator_from, translator_networks
from ...files import replacing, standard_output
from ...views.drawing.terminal import printable
from ..inputs import existing, is_there, near_file, open_documents, pair_columns, source_columns
from ..output import Delivery, Drawn, Remarks, counted, say
from ..training import TrainingJob, describe_writing, open_validation
from .task import (
    Answering,
    ModelToEvaluate,
    Task,
    TextsToAudit,
    TextsToShow,
    TextsToTranslate,
    TrainingToDo,
    describe_saved,
)

if TYPE_CHECKING:
    from ...data.columns import Columns
    from ...data.pairs import Pair
    from ...data.readers import Reader
    from ...data.writers import Cells
    from ...estimators.fitting import FitOptions
    from ...estimators.translator import Translator
    from ...records.alignment import Alignment
    from ...records.translation import AlignmentScores, Candidate, GoldLinks
    from ...tasks.generate import GenerationConfig, Method
    from ...text.document import Document
    from ...views.drawing.terminal import Terminal

__all__ = ["TRANSLATE"]


@dataclass
class TranslationJob(TrainingJob):
    """One training of a translator."""

    estimator: Translator

    def fit(self, options: FitOptions) -> None:
        """Fit the translator on pairs."""
        from ...data.pairs import read_pairs
        from ...training.observers import counted as watched

        pairs = watched(read_pairs(self.reader), "reading", options.observers)
        validation = None if self.held_out is None else read_pairs(self.held_out)
        self.estimator.fit_pairs(pairs, validation, options=options)

    def describe(self) -> Sequence[str]:
        """Say how good it is, and what can be done next."""
        return _summary(self.estimator, self.asked.out)


def _summary(translator: Translator, out: Path) -> list[str]:
    facts = translator.facts_
    lines = []
    if facts["pairs_left_out"]:
        lines.append(
            f"{facts['pairs_left_out']:,} pairs were left out: an empty side, or one of more than "
            f"{translator.units.longest} pieces (units.longest)"
        )
    return [
        *lines,
        *describe_writing(facts, "pairs", bleu="BLEU"),
        f"saved to {out}",
        f"  regard evaluate {out} TEST.tsv",
        f'  regard translate {out} "..."',
    ]


def _train(asked: TrainingToDo) -> None:
    """Train a translator on pairs of texts."""
    from ...data.columns import Columns

    columns = Columns(
        text=asked.source_column or "source",
        label=None,
        target=asked.target_column or "target",
        encoding=asked.encoding,
        carry=False,
    )
    reader = open_documents(asked.data, columns, asked.on_bad_row)
    fraction, judged = open_validation(asked.validation, columns, asked.on_bad_row)
    network = asked.network or "seq2seq"
    translator = translator_from(asked.changes, device=asked.device, model=network)
    TranslationJob(translator, reader, judged, asked).go(fraction)


def _evaluate(asked: ModelToEvaluate) -> None:
    """Score a translator by BLEU and chrF, and where it looks by links that people gave."""
    from ...data.pairs import read_pairs
    from ...estimators.translator import Translator
    from ...records.translation import TranslationScores

    inputs = (asked.data, asked.links)
    delivery = Delivery(asked.out, asked.json, asked.quiet, inputs, "scores")
    existing(asked.data)
    translator = Translator.load(asked.model, device=asked.device)
    remarks = Remarks(quiet=asked.quiet)
    columns = pair_columns(
        translator.facts_,
        source=asked.source_column,
        target=asked.target_column,
        encoding=asked.encoding,
        tell=remarks.add,
    )
    reader = open_documents(asked.data, columns, asked.on_bad_row, tell=remarks.add)
    pairs = list(counted(read_pairs(reader), "read", quiet=asked.quiet, source=reader))
    gold = None if asked.links is None else _gold(asked.links, len(pairs))
    title = f"{asked.model.resolve().name} on {Path(asked.data).name}"
    found = translator.evaluate(pairs, title=title)
    if gold is not None:
        found = replace(found, alignment=_linked(translator, pairs, gold))
    for line in reader.counts.describe() if reader.counts.skipped else ():
        remarks.add(line)
    remarks.say()
    delivery.give(found, page=TranslationScores.to_html, lines=TranslationScores.describe)


def _gold(path: str, pairs: int) -> list[GoldLinks]:
    """Read which words belong together, a line for each pair; before any work is done."""
    from ...data.pairs import read_links

    gold = list(read_links(existing(path)))
    if len(gold) != pairs:
        raise DataError(f"{path} has links of {len(gold):,} pairs, but there are {pairs:,} pairs")
    return gold


def _linked(
    translator: Translator, pairs: Sequence[Pair], gold: list[GoldLinks]
) -> AlignmentScores:
    """Score where the translator looks while it is told to write the references."""
    from ...tasks.translations import links_of, score_links

    aligned = translator.align([pair.source for pair in pairs], [pair.target for pair in pairs])
    return score_links([links_of(one) for one in aligned], gold)


def _explain(asked: TextsToShow) -> None:
    """Translate, and show where each written piece looked."""
    from ...estimators.translator import Translator

    translator = Translator.load(asked.model, device=asked.device)
    generation = translator.generation
    if asked.n_best > 1:
        generation = replace(generation, method="beam")
    texts = asked.texts.read(translator.facts_, quiet=asked.quiet)
    found = translator.explain_candidates(texts, asked.n_best, generation=generation)
    if asked.whole_words:
        found = [[one.by_words() for one in candidates] for candidates in found]
    if asked.receipt:
        measured = counted(found, "measured", quiet=asked.quiet)
        found = [translator.with_receipts(candidates) for candidates in measured]
    every = [one for candidates in found for one in candidates]
    Drawn(
        every,
        lambda _: _page(found),
        lambda _, terminal: _lines(found, terminal),
        one="alignment",
        fewer="--limit 1 and --n-best 1",
    ).give(asked.out, json=asked.json, quiet=asked.quiet)


def _page(found: Sequence[Sequence[Alignment]]) -> str:
    from ...views.alignment.page import render

    return render(found)


def _lines(found: Sequence[Sequence[Alignment]], terminal: Terminal) -> list[str]:
    from ...views.alignment.terminal import render

    return [render(candidates, terminal) for candidates in found]


def _audit(asked: TextsToAudit) -> None:
    """Translate some texts, and measure whether what is written rests on what was looked at."""
    from ...audit.run import sample
    from ...estimators.translator import Translator
    from ...views.audit import render, summary

    delivery = Delivery(asked.out, asked.json, asked.quiet, (asked.data,), "report")
    existing(asked.data)
    translator = Translator.load(asked.model, device=asked.device)
    remarks = Remarks(quiet=asked.quiet)
    columns = source_columns(
        translator.facts_, source=asked.text_column, encoding=asked.encoding, tell=remarks.add
    )
    reader = open_documents(asked.data, columns, asked.on_bad_row, tell=remarks.add)
    drawn = sample(counted(reader, "read", quiet=asked.quiet), asked.limit, asked.seed)
    say("translating and measuring", quiet=asked.quiet)
    texts = counted([one.text for one in drawn], "translated", quiet=asked.quiet)
    found = translator.audit(texts, seed=asked.seed)
    remarks.say()
    delivery.give(replace(found, data=Path(asked.data).name), page=render, lines=summary)


def _translate(asked: TextsToTranslate) -> None:
    """Write what the translator makes of new texts."""
    from ...estimators.translator import Translator

    translator = Translator.load(asked.model, device=asked.device)
    usual = translator.generation
    generation = replace(
        usual,
        method=_method(sample=asked.sample, beam=asked.beam, n_best=asked.n_best) or usual.method,
        beam=usual.beam if asked.beam is None else asked.beam,
        temperature=usual.temperature if asked.temperature is None else asked.temperature,
        seed=usual.seed if asked.seed is None else asked.seed,
    )
    remarks = Remarks(quiet=asked.quiet)
    columns = partial(
        source_columns,
        translator.facts_,
        source=asked.source_column,
        encoding=asked.encoding,
        tell=remarks.add,
    )
    documents = _documents(asked.text, columns, tell=remarks.add)
    count = _Writing(translator, generation, asked.n_best, asked.quiet).to(documents, asked.out)
    remarks.say()
    quiet = asked.quiet or asked.out == STANDARD_INPUT
    say(f"{count:,} texts translated to {asked.out}", quiet=quiet)


def _method(*, sample: bool, beam: int | None, n_best: int) -> Method | None:
    """The way of writing that the options ask for; None: as the model was saved."""
    if sample:
        return "sample"
    if beam == 1 and n_best == 1:
        return "greedy"
    return "beam" if beam is not None or n_best > 1 else None


def _documents(text: str, columns: Callable[[], Columns], *, tell: Callable[[str], None]) -> Reader:
    """The texts that are meant: one text a line, a file, or the text itself."""
    from ...data.columns import Columns
    from ...data.formats.lines import Lines
    from ...data.formats.table import has_known_suffix
    from ...data.readers import read_rows

    if text == STANDARD_INPUT:
        asked = columns()
        lines = Lines(text, asked.encoding)
        return read_rows(({asked.text: line.rstrip("\r\n")} for line, _ in lines), asked)
    place = Path(text)
    if is_there(text) and place.is_file():
        return open_documents(text, columns(), tell=tell)
    if has_known_suffix(place) and " " not in text:
        raise DataError(f"there is no file {text}; {near_file(text)}")
    return read_rows([{"text": text}], Columns(label=None))


@dataclass
class _Writing:
    """Translates documents as they come, and writes them."""

    translator: Translator
    generation: GenerationConfig
    n_best: int
    quiet: bool

    def to(self, documents: Reader, out: str) -> int:
        """Write all to a file or to standard output; return how many there were."""
        from ...data.writers import write_rows

        if out != STANDARD_INPUT and Path(out).suffix.lower() != ".txt":
            return write_rows(self._rows(documents), out)
        if out == STANDARD_INPUT:
            return self._print(documents, _print_at_once)
        with replacing(out) as file:
            return self._print(documents, lambda lines: file.write(lines.encode()))

    def _print(self, documents: Reader, write: Callable[[str], object]) -> int:
        count = 0
        for _, found in self._translated(documents):
            write("".join(f"{line}\n" for line in self._lines(found)))
            count += 1
        return count

    def _translated(self, documents: Reader) -> Iterator[tuple[Document, list[Candidate]]]:
        from ...estimators.writer import of_chunk
        from ...models.reader import chunks

        read = counted(documents, "translated", quiet=self.quiet)
        for number, chunk in enumerate(chunks(read)):
            texts, generation = [one.text for one in chunk], of_chunk(self.generation, number)
            found = self.translator.candidates(texts, self.n_best, generation=generation)
            yield from zip(chunk, found, strict=True)

    def _lines(self, found: Sequence[Candidate]) -> list[str]:
        texts = [_one_line(candidate.text) for candidate in found]
        if self.n_best == 1:
            return texts
        scored = enumerate(zip(found, texts, strict=True), 1)
        return [f"{rank}\t{one.score:.4f}\t{text}" for rank, (one, text) in scored]

    def _rows(self, documents: Reader) -> Iterator[Cells]:
        from ...data.columns import to_row

        for document, found in self._translated(documents):
            given = to_row(document, documents.columns)
            if "translation" in given:
                raise DataError("the data have a column 'translation' already; rename it")
            row = {**given, "translation": found[0].text, "score": found[0].score}
            if self.n_best > 1:
                row["candidates"] = [{"text": one.text, "score": one.score} for one in found]
            yield row


def _one_line(text: str) -> str:
    """The text without line ends, and with what UTF-8 cannot hold shown."""
    return " ".join(text.splitlines()).encode("utf-8", "backslashreplace").decode()


def _print_at_once(lines: str) -> None:
    """Print without waiting for more: who types texts wants each answer."""
    with standard_output() as out:
        # On a terminal a translation must not do more than be read; elsewhere it is data.
        out.write(printable(lines) if out.isatty() else lines)
        out.flush()


def _describe(folder: Path) -> dict[str, object]:
    from ...estimators.saved import SavedTranslator

    saved = SavedTranslator.read(folder)
    facts = {"model": saved.settings.network.name, "task": "translate", **saved.facts}
    return describe_saved(folder, facts, saved.settings.to_dict())


def _load(folder: Path, device: str) -> Answering:
    from ...estimators.translator import Translator

    return Translator.load(folder, device=device).predict


def _choices() -> dict[str, Iterable[str]]:
    from ...nn.attention import SCORES

    return {"--model": translator_networks(), "--set": TRANSLATOR_PARTS, "network.score": SCORES}


_LOOK = "use regard explain to see where it looks"
TRANSLATE = Task(
    noun="translator",
    options={
        "train": ("source_column", "target_column"),
        "evaluate": ("source_column", "target_column", "links"),
        "explain": ("n_best", "whole_words"),
    },
    instead={
        "predict": "use regard translate to translate texts",
        "look": _LOOK,
        "diff": "use regard evaluate on both models to compare their scores",
    },
    train=_train,
    evaluate=_evaluate,
    explain=_explain,
    translate=_translate,
    describe=_describe,
    load=_load,
    choices=_choices,
    audit=_audit,
)
