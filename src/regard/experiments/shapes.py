"""Coloured shapes: pictures of which it is known where each word of the caption should look.

"a red circle above an orange square": a network that has never seen a picture before learns to
write it. Whether it looked at the circle when it wrote "circle" can be measured, for the cells that
the circle lies in are known. No word follows from those before it: even "a" and "an" can be known
from the picture alone, so that it can be asked of every word whether it needs what it looked at.
Grey stones lie about, of which nothing is told, so that only a shape says where a shape is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..config import checked_settings, require
from ..data.captions import EncodedCaptions
from ..data.pictures import PictureBatch
from ..explain.caption_receipts import cover_cells, measure_caption_receipt
from ..models.show_attend_tell import ShowAttendTell, ShowAttendTellConfig
from ..nn.decoding.search import Hypothesis
from ..records.alignment import LEAST_DECIDED, WrittenReceipt
from ..records.caption import COVERED_WEIGHT
from ..records.experiment import Chart, Curve, Finding, ResultRow
from ..tasks.generate import GenerationConfig, TokenLoss, generate, written_ids
from ..text.units import RESERVED
from ..training.batches import PlannedBatches
from ..training.config import TrainingConfig
from ..training.loop import train
from ..training.seeds import derived_seed, seeded
from .running import Stopwatch, Tell

__all__ = ["ARTICLES", "COLOURS", "KINDS", "RELATIONS", "Scene", "Scenes", "Shapes", "draw_scene"]

COLOURS: dict[str, tuple[int, int, int]] = {
    "red": (214, 39, 40),
    "green": (44, 140, 44),
    "blue": (40, 80, 200),
    "orange": (245, 150, 30),
    "aqua": (80, 205, 215),
    "indigo": (85, 25, 130),
}
KINDS = ("circle", "square", "triangle")
ARTICLES = ("a", "an")
RELATIONS = ("above", "beside")
_WORDS = (*RESERVED, *ARTICLES, *COLOURS, *KINDS, *RELATIONS)
_IDS = {word: place for place, word in enumerate(_WORDS)}
_TOGETHER = 250  # pictures that are written about at once
_FEW = 200  # pictures that are asked about after every epoch
_CURVES = ("exact captions", "weight of a shape word on its shape")
_TRIED, _SURE = 5, 0.95
"""Epochs after which so many relations should be right: one shape alone tells nine of ten."""
_PARTS = {
    "shapes": ("shape",),
    "colours": ("colour",),
    "relations": ("relation",),
    "articles": ("article",),
    "all": ("shape", "colour", "relation", "article"),
}
_FEWER = (0.9, 0.8)  # shares of a word's weight to cover, beside the one of every receipt
_FEWEST_STONES, _MOST_STONES = 4, 7
_BETWEEN = 8  # pixels that lie between two shapes, at least
_DRAWN = 64  # pairs of places that are drawn at once
_CLEAR = 1 / 4  # of a side, by which they must be farther apart in one direction than in the other


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """Two shapes, what is to be written about them, and where each of them lies."""

    pixels: NDArray[np.uint8]  # (3, side, side)
    caption: str
    masks: NDArray[np.bool_]  # (2, side, side), in the order of the caption

    @property
    def ids(self) -> list[int]:
        """The caption as ids."""
        return [_IDS[word] for word in self.caption.split()]

    def cells(self, grid: int) -> NDArray[np.bool_]:
        """Which cells each shape touches, (2, cells)."""
        side = self.masks.shape[1] // grid
        blocks = self.masks.reshape(2, grid, side, grid, side)
        touched: NDArray[np.bool_] = blocks.any((2, 4)).reshape(2, -1)
        return touched


def draw_scene(random: np.random.Generator, side: int, sizes: tuple[int, int]) -> Scene:
    """Draw two shapes that do not touch, on a light ground; the upper or left one is told first.

    They may lie anywhere else, so that it takes both to tell how they lie: the place of one alone
    tells it in nine of ten scenes, since the upper or left one is told first. So that only one word
    is right, they are clearly farther apart in one direction. They differ in colour and in kind, or
    what is covered on one could be read off the other. Stones lie beside and behind them, or where
    there is only ground would tell where the shapes are. ``sizes`` are the smallest and the
    largest, in pixels.
    """
    wide = random.integers(sizes[0], sizes[1] + 1, 2)
    axis = int(random.integers(2))
    corners = _corners(random, side, wide, axis)
    pixels = np.full((side, side, 3), 245.0) + random.normal(0, 6, (side, side, 3))
    colours = random.permutation(list(COLOURS)).tolist()
    kinds = random.permutation(KINDS).tolist()
    masks, names = [], []
    for place, (colour, kind) in enumerate(zip(colours[:2], kinds[:2], strict=True)):
        mask = _mask(kind, corners[place], int(wide[place]), side)
        pixels[mask] = np.array(COLOURS[colour]) + random.normal(0, 10, 3)
        masks.append(mask)
        names.append(f"{_article(colour)} {colour} {kind}")
    free = ~np.any(masks, axis=0)
    for _ in range(int(random.integers(_FEWEST_STONES, _MOST_STONES + 1))):
        pixels[_stone(random, side) & free] = random.uniform(90, 210) + random.normal(0, 6, 3)
    shown = np.clip(pixels, 0, 255).astype(np.uint8).transpose(2, 0, 1)
    caption = f"{names[0]} {RELATIONS[axis]} {names[1]}"
    return Scene(np.ascontiguousarray(shown), caption, np.stack(masks))


def _corners(
    random: np.random.Generator, side: int, wide: NDArray[np.int64], axis: int
) -> NDArray[np.int64]:
    """Draw where both shapes begin, (2, 2), until one is clearly below or beside the other."""
    while True:
        corners = random.integers(1, side - wide[:, None], (_DRAWN, 2, 2))
        reach = corners[:, 1] - corners[:, 0]
        apart = np.abs(reach + (wide[1] - wide[0]) / 2)  # from middle to middle
        clear = apart[:, axis] - apart[:, 1 - axis] >= int(side * _CLEAR)
        (fit,) = np.nonzero(clear & (reach[:, axis] >= wide[0] + _BETWEEN))
        if len(fit):
            found: NDArray[np.int64] = corners[fit[0]]
            return found


def _article(word: str) -> str:
    return ARTICLES[word[0] in "aeiou"]


def _mask(kind: str, corner: NDArray[np.int64], size: int, side: int) -> NDArray[np.bool_]:
    """Which pixels a shape covers, (side, side)."""
    middles = np.arange(side) + 0.5
    y, x = (middles[:, None] - corner[0]) / size, (middles - corner[1]) / size  # 0 to 1 in its box
    inside = (y >= 0) & (y <= 1) & (x >= 0) & (x <= 1)
    if kind == "circle":
        return np.asarray((y - 0.5) ** 2 + (x - 0.5) ** 2 <= 0.25)
    if kind == "triangle":
        return np.asarray(inside & (np.abs(x - 0.5) <= y / 2))
    return np.asarray(inside)


def _stone(random: np.random.Generator, side: int) -> NDArray[np.bool_]:
    """Which pixels a grey stone covers, (side, side)."""
    down, across = random.integers(side // 10, side // 5 + 1, 2).tolist()
    top, left = int(random.integers(0, side - down)), int(random.integers(0, side - across))
    covered = np.zeros((side, side), dtype=np.bool_)
    covered[top : top + down, left : left + across] = True
    return covered


def _stretch(random: np.random.Generator, grid: int) -> tuple[int, int]:
    """Where some cells beside each other begin and end, half of all at most."""
    wide = int(random.integers(1, grid // 2 + 1))
    first = int(random.integers(0, grid - wide + 1))
    return first, first + wide


@dataclass(frozen=True, slots=True, eq=False)
class Scenes:
    """Many scenes, as a network learns from them."""

    scenes: tuple[Scene, ...]

    @classmethod
    def draw(
        cls, count: int, side: int, seed: int, *, sizes: tuple[int, int] | None = None
    ) -> Scenes:
        """Draw so many scenes from a seed; shapes are a quarter of a side wide, or as asked."""
        random = np.random.default_rng(seed)
        wide = sizes or (side // 5, side // 4)
        return cls(tuple(draw_scene(random, side, wide) for _ in range(count)))

    def covered(self, share: float, grid: int, seed: int, *, scattered: float = 0.0) -> Scenes:
        """Paint a rectangle of cells over in a share of the scenes, up to half as wide as they.

        In another share, ``scattered``, single cells are: few, half of them, or nearly all.
        """
        random = np.random.default_rng(seed)
        found = []
        for scene in self.scenes:
            drawn = random.random()
            if drawn < share + scattered:
                gone = np.zeros((grid, grid), dtype=np.bool_)
                if drawn < share:
                    (top, bottom), (left, right) = (_stretch(random, grid) for _ in range(2))
                    gone[top:bottom, left:right] = True
                else:
                    gone = random.random((grid, grid)) < random.random()
                pixels = cover_cells(scene.pixels, gone.reshape(1, -1))[0].numpy()
                scene = replace(scene, pixels=pixels)
            found.append(scene)
        return Scenes(tuple(found))

    def encoded(self, cells: int) -> EncodedCaptions:
        """The scenes as ids, with their pictures."""
        return EncodedCaptions(
            np.stack([scene.pixels for scene in self.scenes]),
            np.arange(len(self.scenes)),
            [scene.ids for scene in self.scenes],
            cells=cells,
        )


@dataclass(frozen=True)
@checked_settings
class Shapes:
    """How large the pictures are, and how much is learnt from them.

    In some training pictures cells are painted over at random, here and there nearly all of them.
    Otherwise a network that has never seen a picture without its shapes answers with whatever shape
    it likes, and a receipt, which paints cells over, would tell of that habit and not of what the
    network looked at. A few cells are overlooked (``missed``), so that a word looks at a whole
    shape and not at one cell of it, and looks at more than a quarter of the cells have a price
    (``focus``). What a word knows of the picture is what it looks at itself (``feeding``). Some
    starts settle for one shape, whose place tells how both lie in nine of ten pictures, so a start
    that does not soon know it better is given up for another (``starts``).
    """

    name: ClassVar[str] = "shapes"
    title: ClassVar[str] = "Coloured shapes: does a word look at the shape that it names?"
    columns: ClassVar[tuple[str, ...]] = (
        "exact captions",
        "words",
        "weight on its shape",
        "decided by the picture",
        "lost",
        "lost by chance",
        "needs it",
        "clearly",
        *(f"needs it at {100 * share:.0f} %" for share in _FEWER),
        "needs it, of all words",
    )

    side: int = 64  # pixels; a cell has 8
    smallest: int = 16  # pixels that a shape is wide and high
    largest: int = 23
    examples: int = 12_000
    asked: int = 500  # pictures that the network has not seen
    receipts: int = 100  # of these, how many are asked about again with cells covered
    covered: float = 0.3  # share of the training pictures in which some cells are painted over
    scattered: float = 0.3  # share of them in which single cells are, few or nearly all
    decoder: Literal["xu", "bahdanau", "luong", "transformer"] = "luong"  # one layer of the last
    heads: int = 2  # transformer: looks of a word
    feeding: bool = False  # luong: what was seen at a word is known at the next
    missed: float = 0.1  # share of the cells that a word overlooks in training
    evenness: float = 0.0  # the price of looking at some cells more than at others
    focus: float = 0.3  # the price of looks that are spread over more than a quarter of the cells
    channels: int = 64
    hidden_size: int = 64
    epochs: int = 18
    batch_size: int = 32
    learning_rate: float = 4e-3
    starts: int = 3  # from other weights, as long as one does not soon know how shapes lie

    def __post_init__(self) -> None:
        require(
            self.side >= 32 and self.side % 8 == 0,
            f"side must be a multiple of 8 and at least 32, got {self.side}",
        )
        require(
            4 <= self.smallest <= self.largest <= self.side // 2 - _BETWEEN,
            f"smallest and largest must be from 4 to {self.side // 2 - _BETWEEN}, "
            f"got {self.smallest} and {self.largest}",
        )
        require(self.starts >= 1, f"starts must be at least 1, got {self.starts}")
        require(
            self.covered >= 0 and self.scattered >= 0 and self.covered + self.scattered <= 1,
            "covered and scattered must be shares that make no more than 1 together, "
            f"got {self.covered} and {self.scattered}",
        )

    @classmethod
    def quick(cls) -> Shapes:
        """A few small pictures, looked at once."""
        return cls(side=32, smallest=6, largest=8, examples=64, asked=8, receipts=2, epochs=1)

    def run(self, seed: int, tell: Tell) -> Finding:
        """Teach a network captions, then measure where it looks while it writes new ones."""
        clock = Stopwatch()
        learnt = self._learn(seed, tell)
        model = learnt.model
        seconds = clock.seconds
        scenes = Scenes.draw(
            self.asked, self.side, derived_seed(seed, "asked"), sizes=self._sizes
        ).scenes
        tell("writing about new pictures")
        wrote = self._write(model, scenes)
        right = [written_ids(one) == scene.ids for one, scene in zip(wrote, scenes, strict=True)]
        tell("covering cells")
        words = [
            word
            for one, scene, exact in zip(wrote, scenes, right, strict=True)
            if exact
            for word in _looks(one, scene, model.config.grid)
        ]
        lost = [
            receipt
            for one, scene in list(zip(wrote, scenes, strict=True))[: self.receipts]
            for receipt in self._receipts(model, one, scene)
        ]
        rows = [_row(kind, words, lost) for kind in _PARTS]
        exact = sum(right) / len(right)
        # What is true of whole captions stands in the last row.
        rows[-1] = replace(rows[-1], values=(exact, *rows[-1].values[1:]), seconds=seconds)
        chart = Chart(
            "lines",
            "epoch",
            "share",
            tuple(Curve(name, tuple(some)) for name, some in learnt.points.items()),
            level=0.8,
        )
        return Finding(seed, tuple(rows), chart)

    @property
    def _sizes(self) -> tuple[int, int]:
        return self.smallest, self.largest

    def network(self) -> ShowAttendTellConfig:
        """The network that learns: small, from scratch."""
        return ShowAttendTellConfig(
            side=self.side,
            channels=self.channels,
            halvings=3,
            embedding_size=self.hidden_size // 2,
            memory_size=self.hidden_size,
            hidden_size=self.hidden_size,
            attention_size=self.hidden_size,
            alone=True,
            decoder=self.decoder,
            layers=1,
            heads=self.heads,
            feed_size=2 * self.hidden_size,
            feeding=self.feeding,
            missed=self.missed,
            evenness=self.evenness,
            focus=self.focus,
            opening="nothing",
            dropout=0.0,
        )

    def _learn(self, seed: int, tell: Tell) -> _Learnt:
        """Train from scratch, and begin anew where a start does not soon know how shapes lie."""
        scenes = Scenes.draw(
            self.examples, self.side, derived_seed(seed, "training"), sizes=self._sizes
        )
        some = Scenes.draw(_FEW, self.side, derived_seed(seed, "few"), sizes=self._sizes).scenes
        cells = self.network().grid
        data = scenes.covered(
            self.covered, cells, derived_seed(seed, "covered"), scattered=self.scattered
        ).encoded(cells**2)
        config = TrainingConfig(
            epochs=self.epochs,
            batch_size=self.batch_size,
            batch_tokens=1 << 20,
            learning_rate=self.learning_rate,
            schedule="linear",
            warmup=0.05,
            seed=derived_seed(seed, "order"),
        )
        for start in range(1, self.starts + 1):
            with seeded(derived_seed(seed, f"weights {start}" if start > 1 else "weights")):
                model = self.network().build(target_size=len(_WORDS))
            points: dict[str, list[tuple[float, float]]] = {name: [] for name in _CURVES}
            for epoch in self._epochs(model, data, config):
                *told, relations = self._told(model, some)
                for name, value in zip(_CURVES, told, strict=True):
                    points[name].append((float(epoch), value))
                tell(f"epoch {epoch}, exact captions {told[0]:.1%}, relations {relations:.1%}")
                if epoch == _TRIED and relations < _SURE and start < self.starts:
                    tell("how shapes lie is not learnt from this start: another one")
                    break
            else:
                break
        return _Learnt(model.eval(), points)

    def _epochs(
        self, model: ShowAttendTell, data: EncodedCaptions, config: TrainingConfig
    ) -> Iterator[int]:
        """Train, and give the number of each epoch when it ends."""
        for step in train(
            model,
            PlannedBatches(data, config),
            loss=lambda model, batch, progress: TokenLoss()(model, batch),
            config=config,
        ):
            if step.ends_epoch:
                yield step.epoch

    def _told(self, model: ShowAttendTell, scenes: Sequence[Scene]) -> tuple[float, float, float]:
        """The share of exact captions, the weight of their shape words, and of right relations."""
        wrote = self._write(model, scenes)
        both = list(zip(wrote, scenes, strict=True))
        relations = [_relations(written_ids(one)) == _relations(scene.ids) for one, scene in both]
        exact = [(one, scene) for one, scene in both if written_ids(one) == scene.ids]
        looks = [
            word.mass
            for one, scene in exact
            for word in _looks(one, scene, model.config.grid)
            if word.kind == "shape"
        ]
        mass = float(np.mean(looks)) if looks else 0.0
        return len(exact) / len(both), mass, float(np.mean(relations))

    def _write(self, model: ShowAttendTell, scenes: Sequence[Scene]) -> list[Hypothesis]:
        """What the network writes about pictures, and where it looks."""
        data = Scenes(tuple(scenes)).encoded(model.config.grid**2)
        config = GenerationConfig(method="greedy", longest=20)
        found: list[Hypothesis] = []
        for first in range(0, len(scenes), _TOGETHER):
            part = np.arange(first, min(first + _TOGETHER, len(scenes)))
            found += [best for best, *_ in generate(model, data.look_at(part), config)]
        return found

    def _receipts(self, model: ShowAttendTell, wrote: Hypothesis, scene: Scene) -> list[_Lost]:
        """What the probability of each word loses without the cells it looked at."""
        ids, cells = written_ids(wrote), model.config.grid**2
        assert wrote.weights is not None
        weights = wrote.weights[: len(ids)].numpy()
        found = [
            measure_caption_receipt(
                model,
                lambda pixels: PictureBatch(pixels, cells),
                scene.pixels,
                ids,
                weights,
                share=share,
            ).written
            for share in (COVERED_WEIGHT, *_FEWER)
        ]
        return [
            _Lost(_kind(id), usual, tuple(fewer))
            for id, usual, *fewer in zip(ids, *found, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class _Learnt:
    """A network, and how it went: for each curve a value an epoch."""

    model: ShowAttendTell
    points: dict[str, list[tuple[float, float]]]


@dataclass(frozen=True, slots=True)
class _Look:
    """How much of its weight a word has on the shape that it tells of.

    A relation tells of two, and has it on the one that it looks at less: a half at most.
    """

    kind: str
    mass: float


@dataclass(frozen=True, slots=True)
class _Lost:
    """What a word loses: as in every receipt, and with fewer of the cells it looked at covered."""

    kind: str
    usual: WrittenReceipt
    fewer: tuple[WrittenReceipt, ...]


def _relations(ids: Sequence[int]) -> list[int]:
    return [id for id in ids if _kind(id) == "relation"]


def _kind(id: int) -> str:
    word = _WORDS[id]
    if word in KINDS:
        return "shape"
    if word in COLOURS:
        return "colour"
    return "article" if word in ARTICLES else "relation"


def _looks(wrote: Hypothesis, scene: Scene, grid: int) -> list[_Look]:
    """Where the words of a right caption looked: those of the first shape, then of the second."""
    assert wrote.weights is not None
    cells, found, shape = scene.cells(grid), [], 0
    for id, weights in zip(written_ids(wrote), wrote.weights.numpy(), strict=False):
        kind, masses = _kind(id), cells @ weights
        found.append(_Look(kind, float(masses.min() if kind == "relation" else masses[shape])))
        shape += kind == "shape"
    return found


def _row(kind: str, looks: Sequence[_Look], lost: Sequence[_Lost]) -> ResultRow:
    """What was found of the words of one kind: what they lose, of those the picture decides."""
    # In the row of all words relations are left out: they share their weight between two shapes.
    masses = [
        one.mass
        for one in looks
        if one.kind in _PARTS[kind] and (one.kind != "relation" or kind == "relations")
    ]
    receipts = [one.usual for one in lost if one.kind in _PARTS[kind]]
    decided = [one for one in receipts if one.decided]
    fewer = [one.fewer for one in lost if one.kind in _PARTS[kind] and one.usual.decided]

    def mean(values: Sequence[float]) -> float | None:
        return float(np.mean(values)) if values else None

    def need(some: Sequence[WrittenReceipt]) -> float | None:
        return mean([float(one.drop > one.random_drop) for one in some])

    values = (
        None,
        float(len(receipts)),
        mean(masses),
        mean([float(one.decided) for one in receipts]),
        mean([one.drop for one in decided]),
        mean([one.random_drop for one in decided]),
        need(decided),
        mean([float(one.drop >= one.random_drop + LEAST_DECIDED) for one in decided]),
        *(need([some[place] for some in fewer]) for place in range(len(_FEWER))),
        need(receipts),
    )
    return ResultRow(kind, values)
