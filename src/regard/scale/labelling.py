"""What a model says of many documents, row by row: for files, for actors of Ray, tasks of Spark."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..data.columns import Columns, join_texts
from ..data.formats.rows import Cell, Cells
from ..errors import DataError
from ..explain.fitted import Fitted, Question
from ..records.explanation import Piece
from ..tasks.predictions import confidences

if TYPE_CHECKING:
    import pyarrow

__all__ = ["Labeller", "Labelling", "require_new"]


@dataclass(frozen=True)
class Labelling:
    """What is said of each text: its label, how sure that is, and if asked what decided."""

    abstain_below: float = 0.0  # no label is given where the probability is below this
    explain: bool = False
    receipt: bool = True  # whether to measure how faithful the explanations are

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of what is said, in their order."""
        why = ("heaviest_sentences", "heaviest_words", *(["verdict"] if self.receipt else []))
        return ("predicted", "probability", "probabilities", *(why if self.explain else ()))

    def rows(self, fitted: Fitted, texts: Sequence[str]) -> Iterator[Cells]:
        """Answer texts, one row each, in their order."""
        names = [str(name) for name in fitted.labels.classes]
        likely = fitted.likely(texts)
        labels = fitted.labels_from(likely).tolist()
        sureness = confidences(likely, multilabel=fitted.labels.multilabel).tolist()
        found = fitted.explain(texts, Question(receipt=self.receipt)) if self.explain else []
        for place, row in enumerate(likely.tolist()):
            answer: dict[str, Cell] = {
                "predicted": labels[place] if sureness[place] >= self.abstain_below else None,
                "probability": sureness[place],
                "probabilities": dict(zip(names, row, strict=True)),
            }
            if self.explain:
                answer["heaviest_sentences"] = [_plain(piece) for piece in found[place].sentences()]
                answer["heaviest_words"] = [_plain(piece) for piece in found[place].words()]
                if measured := found[place].receipt:
                    answer["verdict"] = measured.verdict
            yield answer

    def schema(self, fitted: Fitted) -> pyarrow.Schema:
        """Return the types of these rows, which are the same for all texts."""
        import pyarrow as arrow

        label = arrow.array(fitted.labels.array.tolist()).type
        names = [str(name) for name in fitted.labels.classes]
        number, share = arrow.int64(), arrow.float64()
        span = [("text", arrow.string()), ("start", number), ("end", number), ("weight", share)]
        types = {
            "predicted": arrow.list_(label) if fitted.labels.multilabel else label,
            "probability": share,
            "probabilities": arrow.struct([(name, share) for name in names]),
            "heaviest_sentences": arrow.list_(arrow.struct(span)),
            "heaviest_words": arrow.list_(arrow.struct(span)),
            "verdict": arrow.string(),
        }
        return arrow.schema([(name, types[name]) for name in self.columns])


def _plain(piece: Piece) -> dict[str, Cell]:
    start, end = piece.span
    return {"text": piece.text, "start": start, "end": end, "weight": piece.weight}


def require_new(answer: Iterable[str], given: Container[str]) -> None:
    """Raise ``DataError`` where an answer would take the place of what is carried through."""
    for name in answer:
        if name in given:
            raise DataError(
                f"the data have a column {name!r}, which the predictions would replace; rename it"
            )


class Labeller:
    """A model, loaded once, that labels tables: what an actor of Ray or a task of Spark holds."""

    def __init__(
        self,
        folder: Path | str,
        text_column: str = "text",
        *,
        device: str = "cpu",
        labelling: Labelling = Labelling(),
    ) -> None:
        import torch

        from ..estimators.saved import Saved

        torch.set_num_threads(1)
        self._fitted = Saved.read(Path(folder)).fitted(device)
        self._text_column = text_column
        self._labelling = labelling
        self._schema = labelling.schema(self._fitted)

    def __call__(self, rows: pyarrow.Table) -> pyarrow.Table:
        """Add to the columns what ``regard predict`` would write beside them."""
        import pyarrow

        cells = []
        for name in Columns(self._text_column, label=None).found_among(rows.column_names).texts:
            if name not in rows.column_names:
                raise DataError(f"there is no column {name!r}; use --text-column")
            cells.append(["" if one is None else str(one) for one in rows[name].to_pylist()])
        require_new(self._schema.names, rows.column_names)
        texts = (
            cells[0] if len(cells) == 1 else [join_texts(row) for row in zip(*cells, strict=True)]
        )
        answers = list(self._labelling.rows(self._fitted, texts))
        said = pyarrow.Table.from_pylist(answers, self._schema)
        for name in self._schema.names:
            rows = rows.append_column(name, said[name])
        return rows
