"""What writing about sources needs beyond a model: the loss, and letting the model write.

In training a decoder is told the true tokens as often as a schedule says: in the scheduled sampling
of Bengio et al. (2015) it starts with the truth, and is left to itself more and more, as it will be
when it is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from ..config import checked_settings, require, require_counts, require_one_of
from ..data.targets import S, TargetBatch
from ..errors import DataError
from ..models.base import Output, WritingModel
from ..nn.decoding.search import Ends, Hypothesis, beam_search, greedy_search, sample
from ..nn.decoding.writing import NextPiece, State
from ..nn.dropout import in_evaluation
from ..nn.rows import row_sum
from ..text.units import END, START
from ..text.vocab import PADDING
from .loss import Loss

__all__ = [
    "FORCINGS",
    "ForcedLoss",
    "ForcingConfig",
    "GenerationConfig",
    "Method",
    "TokenLoss",
    "forcing_ratio",
    "generate",
    "target_losses",
    "written_ids",
]


Method = Literal["greedy", "beam", "sample"]
"""How the next token is chosen."""
ForcingName = Literal["constant", "linear", "exponential", "inverse-sigmoid"]
_STEEPNESS = 10.0  # of the inverse sigmoid: it is within 1 % of its ends near both of them


@dataclass(frozen=True)
@checked_settings
class GenerationConfig:
    """How a model writes on its own."""

    method: Method = "beam"
    beam: int = 5  # hypotheses that are followed side by side
    length_power: float = 1.0  # scores are divided by the length to this power
    temperature: float = 1.0  # of sampling; below one likely tokens become likelier
    longest: int = 200  # tokens at most, the end counted
    longest_ratio: float = 2.0  # tokens for each of the source's, beside ten, at most
    seed: int = 0  # of sampling

    def __post_init__(self) -> None:
        require_one_of("method", self.method, ("greedy", "beam", "sample"))
        require_counts(self, "beam", "longest")
        require(self.beam <= 1000, f"beam must be from 1 to 1000, got {self.beam}")
        power = self.length_power
        require(0 <= power <= 100, f"length_power must be from 0 to 100, got {power}")
        for name, least, most in (("temperature", 1e-6, 1e6), ("longest_ratio", 0, 1e6)):
            value = getattr(self, name)
            require(
                least <= value <= most, f"{name} must be from {least:g} to {most:g}, got {value}"
            )

    def giving(self, count: int) -> GenerationConfig:
        """How to write so that there are ``count`` candidates: with a beam that is wide enough."""
        require(count >= 1, f"count must be at least 1, got {count}")
        if count == 1:
            return self
        require(
            self.method == "beam",
            f"several candidates need a beam; generation.method is {self.method!r}",
        )
        return replace(self, beam=max(self.beam, count))


@torch.no_grad()
def generate(model: WritingModel[S], source: S, config: GenerationConfig) -> list[list[Hypothesis]]:
    """Let the model write about each source on its own; return the hypotheses, best first.

    It never sees a target, and dropout is off. Greedy writing and sampling give one each. The
    start and the padding are never written, however likely the model thinks them.
    """
    with in_evaluation(model):
        state, decoder = model.start(source), _Writer(model)
        limits = (source.item_counts * config.longest_ratio).long() + 10
        ends = Ends(START, END, limits.clamp(max=config.longest))
        if config.method == "beam":
            power = config.length_power
            return beam_search(decoder, state, ends, width=config.beam, length_power=power)
        if config.method == "greedy":
            found = greedy_search(decoder, state, ends)
        else:
            heat = config.temperature
            found = sample(decoder, state, ends, seed=config.seed, temperature=heat)
        return [[hypothesis] for hypothesis in found]


def written_ids(found: Hypothesis) -> list[int]:
    """What was written, without the end: it is the last, if it is there."""
    return [id for id in found.ids.tolist() if id != END]


@dataclass(frozen=True, slots=True, eq=False)
class _Writer(Generic[S]):
    """A network that writes no token that stands for nothing in a text."""

    model: WritingModel[S]

    def step(self, state: State, previous: Tensor) -> NextPiece:
        made = self.model.step(state, previous)
        logits = made.logits.clone()
        logits[:, PADDING] = logits[:, START] = -math.inf
        return replace(made, logits=logits)


@dataclass(frozen=True, slots=True, eq=False)
class TokenLoss:
    """Cross-entropy of every token of the targets, the end counted.

    ``forcing`` is the probability that a step is told the true token before it.
    """

    forcing: float = 1.0
    label_smoothing: float = 0.0

    def __post_init__(self) -> None:
        require(0 <= self.forcing <= 1, f"forcing must be from 0 to 1, got {self.forcing}")

    def __call__(self, model: WritingModel[S], batch: TargetBatch[S]) -> Loss:
        """Let the model write the targets, and say what that costs."""
        return self.of(model(batch, self.forcing), batch)

    def of(self, output: Output, batch: TargetBatch[S]) -> Loss:
        """Say what a model's answers to the batch cost; every token weighs the same."""
        logits = output.logits.float() if output.logits.itemsize < 4 else output.logits
        answers = batch.target.values
        if logits.shape[0] != answers.shape[0]:
            raise DataError(f"{logits.shape[0]} answers do not fit {answers.shape[0]} tokens")
        total = F.cross_entropy(
            logits, answers, reduction="sum", label_smoothing=self.label_smoothing
        )
        pairs = torch.tensor(float(len(batch)))
        penalty = total.new_zeros(()) if output.penalty is None else output.penalty * pairs
        return Loss(total, torch.tensor(float(answers.shape[0])), penalty, pairs)

    def to(self, device: torch.device) -> TokenLoss:
        """The same loss; it has nothing that lies on a device."""
        return self


def target_losses(model: WritingModel[S], batch: TargetBatch[S]) -> Tensor:
    """Return what the tokens of each target cost together, (targets,), the end counted."""
    logits = model(batch).logits.float()
    return row_sum(
        batch.target.with_values(F.cross_entropy(logits, batch.target.values, reduction="none"))
    )


@dataclass(frozen=True, slots=True, eq=False)
class ForcedLoss:
    """The loss of every target token, told the true tokens as often as the schedule says."""

    loss: TokenLoss
    forcing: ForcingConfig

    def __call__(
        self, model: WritingModel[S], batch: TargetBatch[S], progress: float = 0.0
    ) -> Loss:
        """Let the model write the targets, after this share of its training."""
        return replace(self.loss, forcing=forcing_ratio(self.forcing, progress))(model, batch)

    def to(self, device: torch.device) -> ForcedLoss:
        """The same loss; it has nothing that lies on a device."""
        return self


@dataclass(frozen=True)
@checked_settings
class ForcingConfig:
    """The probability that a step is told the true token: at the start, and at the end."""

    schedule: ForcingName = "constant"
    start: float = 1.0
    end: float = 0.1  # not used where it is constant

    def __post_init__(self) -> None:
        require_one_of("schedule", self.schedule, FORCINGS)
        for name in ("start", "end"):
            value = getattr(self, name)
            require(0 <= value <= 1, f"{name} must be from 0 to 1, got {value}")
        require(
            self.schedule != "exponential" or min(self.start, self.end) > 0,
            "an exponential schedule never reaches 0; give a start and an end above it",
        )


def forcing_ratio(config: ForcingConfig, progress: float) -> float:
    """Return the probability of the true token after a share of the training, from 0 to 1."""
    share = min(max(progress, 0.0), 1.0)
    return FORCINGS[config.schedule](config.start, config.end, share)


def _inverse_sigmoid(start: float, end: float, progress: float) -> float:
    def fall(share: float) -> float:
        return 1 / (1 + math.exp(_STEEPNESS * (share - 0.5)))

    left = (fall(progress) - fall(1)) / (fall(0) - fall(1))
    return end + (start - end) * left


FORCINGS: dict[str, Callable[[float, float, float], float]] = {
    "constant": lambda start, end, progress: start,
    "linear": lambda start, end, progress: start + (end - start) * progress,
    "exponential": lambda start, end, progress: start * (end / start) ** progress,
    "inverse-sigmoid": _inverse_sigmoid,
}
"""Every schedule by its name in the settings: from start to end, by the share that is done."""
