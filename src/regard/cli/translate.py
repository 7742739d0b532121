"""``regard translate``: what a trained translator writes about new texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..data.formats.lines import STANDARD_INPUT
from ..errors import DataError
from ..files import replacing, standard_output
from ..views.drawing.terminal import printable
from .inputs import near_file, open_documents, source_columns
from .options import Device, Encoding, ModelFolder, Quiet
from .output import Remarks, require_output
from .progress import counted, say
from .tasks import find_task

if TYPE_CHECKING:
    from ..data.columns import Columns
    from ..data.readers import Reader
    from ..data.writers import Cells
    from ..estimators.translator import Translator
    from ..records.translation import Candidate
    from ..tasks.generate import GenerationConfig, Method
    from ..text.document import Document

__all__ = ["translate"]

LONGEST_NAME = 1000  # a longer argument is a text


def translate(
    context: typer.Context,
    model: ModelFolder,
    text: Annotated[
        str,
        typer.Argument(
            metavar="TEXT", help="The text itself, a file of texts, or - for one text a line."
        ),
    ],
    n_best: Annotated[int, typer.Option(min=1, help="How many translations of each text.")] = 1,
    beam: Annotated[
        int | None, typer.Option(min=1, help="Translations followed side by side; 1 is greedy.")
    ] = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="Write at random, as likely as the model thinks.")
    ] = False,
    temperature: Annotated[
        float | None, typer.Option(help="Of --sample: below 1 likely words become likelier.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of --sample: same seed, same texts.")] = None,
    out: Annotated[
        str,
        typer.Option(help="Where to write: .txt, {written}, or - for standard output."),
    ] = "-",
    source_column: Annotated[
        str | None, typer.Option(help="The column of a file that holds the text.")
    ] = None,
    encoding: Encoding = None,
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Translate new texts with a model that was trained on pairs.

    On standard output one line a text; several of a text with their rank and score.
    """
    from ..data.formats.table import written_suffixes
    from ..estimators.translator import Translator

    if out != STANDARD_INPUT:
        # The text may be the text itself, too long for the name of a file.
        read = text if len(text) < LONGEST_NAME else None
        require_output(out, (".txt", *written_suffixes()), inputs=(read,))
    find_task(model, context)
    translator = Translator.load(model, device=device)
    usual = translator.generation
    generation = replace(
        usual,
        method=_method(sample=sample, beam=beam, n_best=n_best) or usual.method,
        beam=usual.beam if beam is None else beam,
        temperature=usual.temperature if temperature is None else temperature,
        seed=usual.seed if seed is None else seed,
    )
    remarks = Remarks(quiet=quiet)
    columns = partial(
        source_columns,
        translator.facts_,
        source=source_column,
        encoding=encoding,
        tell=remarks.add,
    )
    documents = _documents(text, columns, tell=remarks.add)
    count = _Writing(translator, generation, n_best, quiet).to(documents, out)
    remarks.say()
    say(f"{count:,} texts translated to {out}", quiet=quiet or out == STANDARD_INPUT)


def _method(*, sample: bool, beam: int | None, n_best: int) -> Method | None:
    """The way of writing that the options ask for; None: as the model was saved."""
    if sample:
        return "sample"
    if beam == 1 and n_best == 1:
        return "greedy"
    return "beam" if beam is not None or n_best > 1 else None


def _documents(text: str, columns: Callable[[], Columns], *, tell: Callable[[str], None]) -> Reader:
    """The texts that are meant: one text a line, a file, or the text itself."""
    from ..data.columns import Columns
    from ..data.formats.lines import Lines
    from ..data.formats.table import has_known_suffix
    from ..data.readers import read_rows

    if text == STANDARD_INPUT:
        asked = columns()
        lines = Lines(text, asked.encoding)
        return read_rows(({asked.text: line.rstrip("\r\n")} for line, _ in lines), asked)
    place = Path(text)
    if len(text) < LONGEST_NAME and place.is_file():
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
        from ..data.writers import write_rows

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
        from ..estimators.reader import chunks

        for chunk in chunks(counted(documents, "translated", quiet=self.quiet)):
            texts = [one.text for one in chunk]
            found = self.translator.candidates(texts, self.n_best, generation=self.generation)
            yield from zip(chunk, found, strict=True)

    def _lines(self, found: Sequence[Candidate]) -> list[str]:
        texts = [_one_line(candidate.text) for candidate in found]
        if self.n_best == 1:
            return texts
        scored = enumerate(zip(found, texts, strict=True), 1)
        return [f"{rank}\t{one.score:.4f}\t{text}" for rank, (one, text) in scored]

    def _rows(self, documents: Reader) -> Iterator[Cells]:
        for document, found in self._translated(documents):
            given = document.row(documents.columns.text)
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
