"""``regard train --task translate``: from a file of pairs to a saved translator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .progress import counted, say
from .settings import translator_from
from .working import (
    end_of_training,
    held_out,
    saying_when_nothing_is_learnt,
    watching,
    work_folder,
)

if TYPE_CHECKING:
    from ..data.readers import Reader
    from ..estimators.fitting import Run
    from ..estimators.translator import Translator
    from ..records.check import DataCheck, PairCheck

__all__ = ["TranslationJob"]


@dataclass
class TranslationJob:
    """One training of a translator from the shell: what is printed, kept and written around it."""

    reader: Reader
    out: Path
    validation: str
    on_bad_row: str
    quiet: bool

    def go(
        self,
        model: str,
        changes: Sequence[str],
        *,
        device: str,
        resume: bool,
        overwrite: bool,
        logs: Path | None,
    ) -> None:
        """Fit, save and say so; with several processes the first alone speaks."""
        from ..estimators.fitting import Run
        from ..scale.distributed import join_team, own_device
        from ..training.devices import choose_device
        from ..training.interrupts import Interrupts

        fraction, judged = held_out(self.validation, self.reader.columns, self.on_bad_row)
        translator = translator_from(changes, device=device, model=model)
        own = own_device(choose_device(device))
        translator.set_params(device=str(own), validation=fraction)
        with (
            Interrupts() as interrupts,
            work_folder(self.out, resume=resume, overwrite=overwrite, quiet=self.quiet) as work,
            join_team(own) as team,
        ):
            self.quiet = self.quiet or team.rank != 0
            with watching(team, logs=logs, quiet=self.quiet) as observers:
                run = Run(None, observers, team, interrupts)
                self._fit(translator, judged, run, work, resume=resume)
            if team.rank != 0:
                return
            translator.save(self.out)
        self._report(translator, [self.reader, *([judged] if judged else [])])

    def _fit(
        self, translator: Translator, judged: Reader | None, run: Run, work: Path, *, resume: bool
    ) -> None:
        from ..data.pairs import read_pairs
        from ..estimators.preparing import FitOptions

        options = FitOptions(
            columns=self.reader.columns,
            readers=(self.reader,) if judged is None else (self.reader, judged),
            work=work,
            resume=resume,
            observers=run.observers,
            team=run.team,
            interrupts=run.interrupts,
            on_check=self._show_check,
        )
        pairs = counted(read_pairs(self.reader), "reading", quiet=self.quiet)
        validation = None if judged is None else read_pairs(judged)
        with saying_when_nothing_is_learnt(quiet=self.quiet):
            translator.fit_pairs(pairs, validation, options=options)

    def _show_check(self, check: PairCheck | DataCheck) -> None:
        for line in check.describe():
            say(line, quiet=self.quiet)

    def _report(self, translator: Translator, readers: Sequence[Reader]) -> None:
        for line in end_of_training(translator.history_, readers):
            say(line, quiet=self.quiet)
        for line in _summary(translator, self.out):
            say(line, quiet=self.quiet)


def _summary(translator: Translator, out: Path) -> list[str]:
    facts = translator.facts_
    lines = []
    if facts["pairs_left_out"]:
        lines.append(
            f"{facts['pairs_left_out']:,} pairs were left out: an empty side, or one of more than "
            f"{translator.units.longest} pieces (units.longest)"
        )
    if not facts["validation_pairs"]:
        lines.append("nothing was held out, so how good it is was not measured")
    elif facts["best_epoch"] is not None:
        score = f"loss {facts['validation_loss']:.4f}"
        if facts["validation_bleu"] is not None:
            score = f"BLEU {facts['validation_bleu']:.2f} and {score}"
        lines.append(
            f"best epoch {facts['best_epoch']}: {score} on {facts['validation_pairs']:,} held-out "
            "pairs (they chose the epoch: measure on others)"
        )
    return [
        *lines,
        f"saved to {out}",
        f"  regard evaluate {out} TEST.tsv",
        f'  regard translate {out} "..."',
    ]
