"""The measures of an audit, by name: all that is said of them anywhere is made from this table.

What a terminal, a page and the docs call a measure, how it is taken, which way is better and what
stands beside it. Plain data, so that an audit can be drawn on a machine without torch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..config import require, require_one_of
from .explanation import Explanation

__all__ = ["FAMILIES", "MEASURES", "Family", "Measure"]


@dataclass(frozen=True, slots=True)
class Family:
    """Measures that answer one question."""

    title: str
    question: str
    of_methods: bool = True  # of each method of explanation, not of the model


FAMILIES: dict[str, Family] = {
    "faithfulness": Family("Faithfulness", "does the answer rest on what is called heavy?"),
    "looking": Family("Looking", "does what was written rest on what was looked at?"),
    "agreement": Family("Agreement", "do other ways of looking find the same?"),
    "marks": Family("People’s marks", "would people have marked the same?"),
    "attention": Family("The attention itself", "does it say anything?", of_methods=False),
}
"""The questions, in the order of a page."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What a measure is called, how it is taken, which way is better, and what stands beside it.

    ``take`` returns what one explanation gives and what the baseline gives there, or None. The
    measures without it ask the model again, several at a time: ``audit/run.py`` takes them.
    """

    title: str
    family: str  # of ``FAMILIES``
    protocol: str
    better: str = "high"  # or "low"
    baseline: str = "random ranking"
    heading: str = ""  # of its column in the overview; only the main measures have one
    meaning: str = ""  # what that column says
    take: Callable[[Explanation], tuple[float, float] | None] | None = None

    def __post_init__(self) -> None:
        require_one_of("family", self.family, FAMILIES)
        require_one_of("better", self.better, ("high", "low"))
        require(
            self.take is None or FAMILIES[self.family].of_methods,
            f"what is taken of an explanation cannot be of the family {self.family!r}",
        )


MEASURES: dict[str, Measure] = {
    "auprc": Measure(
        "Evidence by phrases, as drawn (AUPRC)",
        "marks",
        (
            "average precision of tokens by the phrases of their words, as a page draws them: the "
            "mean along the sentence, by a bell of 4 words; mean over documents"
        ),
    ),
    "token_f1": Measure(
        "Evidence, token F1",
        "marks",
        (
            "F1 of the heaviest tokens by phrases, as many as people mark on average here; "
            "mean over documents"
        ),
    ),
    "iou_f1": Measure(
        "Evidence, span F1",
        "marks",
        (
            "F1 of spans that overlap by half, of the heaviest tokens by phrases, as many as "
            "people mark on average here; mean over documents"
        ),
    ),
    "auprc_word": Measure(
        "Evidence by words, as drawn (AUPRC)",
        "marks",
        "average precision of tokens by the scores of their own words, as a page draws them",
        heading="Evidence (AUPRC)",
        meaning="How well the heavy words match what people marked.",
    ),
    "auprc_sentence": Measure(
        "Evidence by sentences, as drawn (AUPRC)",
        "marks",
        "average precision of tokens by the weights of their sentences, as a page draws them",
    ),
    "comprehensiveness": Measure(
        "Comprehensiveness",
        "faithfulness",
        "ERASER: mean over the heaviest 1, 5, 10, 20, 50 %, deleted; words",
        heading="Comprehensiveness",
        meaning="Probability that the answer loses without the heaviest words.",
    ),
    "sufficiency": Measure(
        "Sufficiency",
        "faithfulness",
        "ERASER: mean over the heaviest 1, 5, 10, 20, 50 %, deleted; words",
        better="low",
        heading="Sufficiency",
        meaning="Probability that the answer loses with the heaviest words alone.",
    ),
    "comprehensiveness_sentence": Measure(
        "Comprehensiveness, sentences",
        "faithfulness",
        "ERASER: mean over the heaviest 1, 5, 10, 20, 50 %, deleted; sentences",
    ),
    "sufficiency_sentence": Measure(
        "Sufficiency, sentences",
        "faithfulness",
        "ERASER: mean over the heaviest 1, 5, 10, 20, 50 %, deleted; sentences",
        better="low",
    ),
    "normalised_comprehensiveness": Measure(
        "Comprehensiveness, normalised",
        "faithfulness",
        (
            "ERASER: mean over the heaviest 1, 5, 10, 20, 50 %, deleted; words, as a share "
            "of what the empty document loses"
        ),
    ),
    "normalised_sufficiency": Measure(
        "Sufficiency, normalised",
        "faithfulness",
        (
            "ERASER: mean over the heaviest 1, 5, 10, 20, 50 %, deleted; words, as a share "
            "of what the empty document loses"
        ),
        better="low",
    ),
    "comprehensiveness_ferret": Measure(
        "Comprehensiveness (ferret)",
        "faithfulness",
        ("ferret: mean over 10 to 100 % in steps of ten, positive scores alone, repeats skipped"),
        baseline="same scores shuffled",
    ),
    "sufficiency_ferret": Measure(
        "Sufficiency (ferret)",
        "faithfulness",
        ("ferret: mean over 10 to 100 % in steps of ten, positive scores alone, repeats skipped"),
        better="low",
        baseline="same scores shuffled",
    ),
    "tau_loo": Measure(
        "Same order as leaving words out (tau)",
        "agreement",
        (
            "whether two rankings have the same order, 1 if so, 0 for no relation, -1 reversed: "
            "Kendall's tau-b of sizes, signs left out, as Jain and Wallace: scores and "
            "total variation without each word"
        ),
        heading="Order, leave-one-out",
        meaning="How far the order of the words agrees with leaving out one at a time.",
    ),
    "tau_gradient": Measure(
        "Same order as the gradient (tau)",
        "agreement",
        (
            "whether two rankings have the same order, 1 if so, 0 for no relation, -1 reversed: "
            "Kendall's tau-b of sizes, signs left out, as Jain and Wallace: scores and "
            "gradient along each word, attention held"
        ),
    ),
    "flip_fraction": Measure(
        "Units gone until the answer flips",
        "faithfulness",
        (
            "share of units whose weight is set to zero, the heaviest first, until the "
            "answer flips; 1 if it never does; at most 50 steps"
        ),
        better="low",
        heading="Units until a flip",
        meaning="Share of the units that must go, heaviest first, until the answer is another.",
    ),
    "tau_shuffled_weights": Measure(
        "Same order with a shuffled model (tau)",
        "agreement",
        (
            "whether two rankings have the same order, 1 if so, 0 for no relation: "
            "Kendall's tau-b of word scores with those of a copy whose parameters are "
            "shuffled; an explanation that stays does not explain the model"
        ),
        better="low",
    ),
    "adversarial_jsd": Measure(
        "How far attention can differ at the same answer (JSD)",
        "attention",
        (
            "from 0, the same weights, to 0.69, none in common: "
            "largest Jensen-Shannon divergence of another attention that "
            "moves the answer by at most 0.01; searched by gradient from several starts"
        ),
        better="low",
        baseline="best of as many random attentions",
    ),
    "permutation_change": Measure(
        "Answer moved by permuting attention",
        "attention",
        (
            "median over 100 permutations of the attention of how far the answer moves, in "
            "total variation"
        ),
        baseline="even attention",
    ),
    "uniform_gap_trained": Measure(
        "Gap to even attention, trained",
        "attention",
        "accuracy minus that of a model trained alike with even attention",
        baseline="no gap",
    ),
    "uniform_gap_forced": Measure(
        "Gap to even attention, forced",
        "attention",
        (
            "accuracy minus that of the same weights with even attention forced on them, "
            "which no training has prepared for"
        ),
        baseline="no gap",
    ),
    "stability_jsd": Measure(
        "How far the attention of another seed differs (JSD)",
        "attention",
        (
            "from 0, the same weights, to 0.69, none in common: "
            "Jensen-Shannon divergence of the word attention of two models"
        ),
        better="low",
        baseline="same weights shuffled",
    ),
    "stability_overlap": Measure(
        "Shared top sentences between seeds",
        "attention",
        "share of the 3 heaviest sentences that two models have in common",
        baseline="random sentences",
    ),
    "probe_attention": Measure(
        "Probe led by attention",
        "attention",
        (
            "accuracy of a small network over the word vectors without their order, added "
            "up by the model's attention"
        ),
        baseline="even weights",
    ),
    "probe_adversarial": Measure(
        "Probe led by the adversary",
        "attention",
        (
            "accuracy of a small network over the word vectors without their order, added "
            "up by the attention that differs most at the same answer"
        ),
        better="low",
        baseline="even weights",
    ),
    "needle_recall": Measure(
        "Planted sentences found",
        "attention",
        "share of documents in which a planted sentence is the one with the largest score",
        baseline="random sentence",
    ),
    "needle_recall_2": Measure(
        "The same, planted twice",
        "attention",
        (
            "a sentence is planted 2 times in 20: the share of them that are among the 2 "
            "with the largest scores"
        ),
        baseline="random sentences",
    ),
    "needle_recall_4": Measure(
        "The same, planted four times",
        "attention",
        (
            "a sentence is planted 4 times in 20: the share of them that are among the 4 "
            "with the largest scores"
        ),
        baseline="random sentences",
    ),
    "source_decides": Measure(
        "Decided by the source",
        "looking",
        (
            "share of written pieces that lose at least one percentage point of their probability "
            "with the whole source unknown; the others follow from what was written before them"
        ),
        baseline="none",
    ),
    "looked_at_drop": Measure(
        "Lost without what was looked at",
        "looking",
        (
            "probability that a written piece loses without the pieces of the source it "
            "looked at most, as many as counted for it, told all that was written before; "
            "mean over those pieces of its text that the source decides"
        ),
        baseline="random pieces",
        heading="Lost without the look",
        meaning="Probability that a written word loses without the source words it looked at most.",
    ),
    "looked_at_better": Measure(
        "Looks that matter more than random",
        "looking",
        (
            "of the written pieces that the source decides, the share that lose more without "
            "what they looked at than without as many random pieces of the source, on average"
        ),
        baseline="random pieces",
        heading="Looks that matter",
        meaning=(
            "Share of written words that lose more without what they looked at than without others."
        ),
    ),
}
