"""Recipes that a person can name: how much time to give a classifier, and what it is spent on.

A recipe changes the usual settings; what is asked for by name is changed after it. A network may
start from word vectors that its texts have taught beforehand: labels say little of what words are
alike, and the company that words keep says more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..config import require_one_of
from ..records.data import DataCheck
from ..training.config import TrainingConfig

__all__ = [
    "BALANCED",
    "FEWEST_EPOCHS",
    "LEFT_OPEN",
    "RECIPES",
    "STEPS",
    "Recipe",
    "find_recipe",
    "recipe_for",
]


STEPS = 40
"""How many steps an epoch has at least, where no other size of batches is asked for."""
SMALLEST_BATCH = 8
ENOUGH = 1_400, 24_000_000
"""Steps of all epochs together, and words: after both a network learns little more that holds for
new documents."""
FEWEST_EPOCHS = 4
OFTENER = 2
"""Times as often as usual that documents of many classes are read, at most."""
FOLDS = 4
"""Into which few documents are dealt, to hold each of them out once."""
FEWEST_TO_FOLD = 200
"""Fewer say nothing about a network, however they are held out."""


@dataclass(frozen=True)
class Recipe:
    """Changes to the usual settings, by part and name, and what is done beforehand."""

    name: str
    meaning: str
    changes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    learns_vectors: bool = False  # beforehand, of words, from the texts
    most_folded: tuple[int, int] = (0, 0)  # of more documents or words, a tenth held out will do

    least_steps: int = STEPS  # of an epoch: few documents are cut into smaller batches
    enough: tuple[int, int] | None = None  # steps and words of all epochs; None: never enough

    def suit(
        self, training: TrainingConfig, *, documents: int, words: int, many_classes: bool = False
    ) -> TrainingConfig:
        """Return the settings of a training on so many documents: what was left open follows them.

        A batch size or number of epochs other than the usual one was asked for, and is kept.
        """
        size, epochs = training.batch_size, training.epochs
        if size == TrainingConfig.batch_size:
            size = self.batch_size(documents, size)
        if epochs == TrainingConfig.epochs:
            epochs = self.epochs(
                documents, words, batch_size=size, usual=epochs, many_classes=many_classes
            )
        return replace(training, batch_size=size, epochs=epochs)

    def batch_size(self, documents: int, usual: int) -> int:
        """Return how many documents to take in a step, so that a few make steps enough."""
        if not self.least_steps:
            return usual
        return min(usual, max(SMALLEST_BATCH, documents // self.least_steps))

    def epochs(
        self,
        documents: int,
        words: int,
        *,
        batch_size: int,
        usual: int,
        many_classes: bool = False,
    ) -> int:
        """Return how often to read so many documents at most: many long ones are read less often.

        Many short ones are not: each of them says little. With ``many_classes``, of each of which
        there are then few, few or short ones are read more often.
        """
        if self.enough is None:
            return usual
        steps, enough_words = self.enough
        wanted = steps * batch_size / max(documents, 1), enough_words / max(words, 1)
        if many_classes and min(wanted) > usual:
            return round(min(*wanted, OFTENER * usual))
        return min(usual, max(FEWEST_EPOCHS, round(min(max(wanted), usual))))

    def folds(self, documents: int, words: int) -> int:
        """Return into how many folds so many documents are dealt; none: a share is held out."""
        most, most_words = self.most_folded
        return FOLDS if FEWEST_TO_FOLD <= documents <= most and words <= most_words else 0

    def describe(
        self,
        check: DataCheck,
        *,
        given: str | None = None,
        device: str = "cpu",
        folds: int = 0,
    ) -> str:
        """Say in a line what was picked for these data, and why.

        ``given`` says whether there are "unlabelled" texts, or "vectors" in a file; ``folds`` into
        how many the documents are dealt.
        """
        script = {
            "letter": "; by letters, which tell more here than words",
            "syllable": "; Korean by syllables, since its words are mostly new",
        }.get(check.token, "")
        held_out = f"; every document held out once, in {folds} folds" if folds else ""
        time = f", {check.time}" if check.time else ""
        start = self._tell_start(given)
        return (
            f"recipe {self.name}, {self.meaning}; {start}{held_out}{script} "
            f"({check.documents:,} documents of {check.tokens_per_document.median:,} "
            f"{check.token}s at the median, on {device}{time})"
        )

    def _tell_start(self, given: str | None) -> str:
        """Say where the word vectors start."""
        if given == "vectors":
            return "word vectors from the file"
        if given == "unlabelled":
            return "word vectors learnt beforehand from all texts, those without labels too"
        if self.learns_vectors:
            return "word vectors learnt beforehand from these texts, which say more than labels do"
        return "word vectors learnt from the labels alone"


BALANCED = Recipe(
    "balanced",
    "the default",
    learns_vectors=True,
    most_folded=(2_500, 1_000_000),
    enough=ENOUGH,
)
RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            "fast",
            "a short training of a small network",
            {"training": {"epochs": "3"}, "network": {"embedding_size": "100"}},
        ),
        BALANCED,
        Recipe(
            "accurate",
            "a longer training, of which weights are averaged",
            {"training": {"epochs": "12", "average": "3", "patience": "3"}},
            learns_vectors=True,
            most_folded=BALANCED.most_folded,
        ),
    )
}

LEFT_OPEN = frozenset(
    {
        "training.batch_size",
        "training.epochs",
        *(
            f"{part}.{name}"
            for recipe in RECIPES.values()
            for part, changed in recipe.changes.items()
            for name in changed
        ),
    }
)
"""Settings that recipes and data choose, as long as nobody names them."""


def find_recipe(name: str) -> Recipe:
    """Look a recipe up; another name is an error that lists them."""
    require_one_of("--recipe", name, RECIPES)
    return RECIPES[name]


def recipe_for(name: str, changes: Sequence[str]) -> Recipe:
    """Look a recipe up, and leave alone what is asked for by name.

    Unless a batch size is, few documents get smaller batches; unless epochs are, many get fewer.
    """
    found = find_recipe(name)
    named = {change.partition("=")[0].strip() for change in changes}
    if "training.epochs" in named:
        found = replace(found, enough=None)
    return replace(found, least_steps=0) if "training.batch_size" in named else found
