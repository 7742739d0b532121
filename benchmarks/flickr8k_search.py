"""Flickr8k, dev pictures alone: many short trainings from which settings are chosen.

    python benchmarks/flickr8k_search.py features --backbone efficientnet-lite0.safetensors
    python benchmarks/flickr8k_search.py train --plan PLAN --found FOUND --seconds 400
    python benchmarks/flickr8k_search.py join FOUND...

The network is that of ``ShowAttendTell``, written on padded rows: then a step of the training is
one CUDA graph, and a training takes seconds. PLAN is a list of changes to ``Trial`` in JSON.
Several processes may work through the same plan; each trial is done by the first that comes to it.
Captions are cut after 22 words in training, and the weights are the mean of the last epochs. The
test pictures are never read; ``flickr8k.py`` trains what was chosen with the product and does.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path

import measuring
import numpy as np
import torch
from flickr8k import DATA
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, dropout, pixel_unshuffle

from regard.data.captions import read_captioned, read_captions
from regard.data.pictures import decode_picture
from regard.estimators.captioner import CAPTION_UNITS
from regard.models.picture_reader import load_backbone
from regard.models.show_attend_tell import draw_places
from regard.nn.decoding.search import Ends, beam_search
from regard.tasks.captions import score_captions
from regard.text.units import END, START, build_units
from regard.text.vocab import PADDING, cut_texts

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
LONGEST = 22
"""Words of a caption in training, the end counted."""
POWERS = (0.7, 1.0, 1.3)
"""Powers of the length by which the scores of a beam are divided."""


@dataclass(frozen=True)
class Trial:
    """One training."""

    attention: str = "soft"
    decoder: str = "xu"  # or luong; or anderson: two LSTMs, of which the first asks
    informed: bool = False  # a look knows the word before
    grid: str = "fine"  # the name of features
    views: tuple[str, ...] = ()  # further features of the training pictures, such as mirrored ones
    dropout: float = 0.4
    unseen: float = 0.5
    heads: int = 1
    rate: float = 1e-3
    epochs: int = 10
    average: int = 3
    batch: int = 128
    smoothing: float = 0.1
    memory: int = 512
    hidden: int = 512
    attended: int = 256
    embedding: int = 256
    seed: int = 0


class Network(nn.Module):
    """Show, attend and tell, where all rows have the same length."""

    def __init__(self, trial: Trial, words: int, features: int, cells: int) -> None:
        super().__init__()
        self.trial = trial
        memory, hidden, embedding = trial.memory, trial.hidden, trial.embedding
        self.project = nn.Linear(features, memory)
        self.places = nn.Parameter(draw_places(round(cells**0.5), memory))
        self.start = nn.ModuleList(nn.Linear(memory, hidden) for _ in range(2))
        self.embed = nn.Embedding(words, embedding)
        nn.init.uniform_(self.embed.weight, -0.1, 0.1)
        self.key = nn.Linear(memory, trial.attended, bias=False)
        self.query = nn.Linear(hidden, trial.attended, bias=False)
        self.score = nn.Linear(trial.attended // trial.heads, trial.heads, bias=False)
        read = {"xu": memory, "luong": 0, "anderson": memory + hidden}[trial.decoder]
        self.cell = nn.LSTMCell(embedding + read, hidden)
        if trial.decoder == "xu":
            self.gate = nn.Linear(hidden, 1)
        if trial.decoder == "anderson":
            self.second = nn.LSTMCell(memory + hidden, hidden)
        if trial.informed:
            self.inform = nn.Linear(embedding, hidden, bias=False)
        known = hidden + memory + (0 if trial.decoder == "luong" else embedding)
        self.combine = nn.Linear(known, hidden, bias=trial.decoder != "luong")
        self.output = nn.Linear(hidden, words)

    def drop(self, values: Tensor) -> Tensor:
        return dropout(values, self.trial.dropout, self.training)

    def encode(self, features: Tensor) -> State:
        """Look at features, (pictures, cells, features)."""
        cells = features.float()
        cells = cells * self.drop(cells.new_ones(len(cells), 1, cells.shape[2]))
        memory = torch.relu(self.project(cells)) + self.places
        summary = memory.mean(1)
        absent = torch.zeros(
            len(memory), 1, memory.shape[1], dtype=torch.bool, device=memory.device
        )
        if self.training and self.trial.unseen:
            absent = torch.rand(absent.shape, device=memory.device) < self.trial.unseen
        if self.trial.attention == "mean":  # the same at every word: one cell stands for all
            weights = torch.softmax(absent.float() * -1e30, -1)
            memory, absent = weights @ memory, absent[..., :1] & False
        state, carry = torch.tanh(self.start[0](summary)), self.start[1](summary)
        again = (state, carry) if self.trial.decoder == "anderson" else ()
        lengths = torch.full((len(memory),), memory.shape[1], device=memory.device)
        rows = (state, carry, *again, summary)
        return State((memory, self.key(memory), absent), rows, lengths)

    def look(self, query: Tensor, about: tuple[Tensor, ...]) -> Tensor:
        """Ask questions, (pictures, questions, hidden)."""
        memory, keys, absent = about
        if self.trial.attention == "mean":
            return memory.expand(-1, query.shape[1], -1)
        mixed = torch.tanh(keys[:, None] + self.query(query)[:, :, None])
        heads = self.trial.heads
        if heads == 1:
            scores = self.score(mixed).squeeze(-1).masked_fill(absent, -1e30)
            return torch.softmax(scores, -1) @ memory
        scores = (mixed.unflatten(-1, (heads, -1)) * self.score.weight).sum(-1)
        weights = torch.softmax(scores.masked_fill(absent[..., None], -1e30), 2)
        parts = memory.unflatten(-1, (heads, -1))
        return torch.einsum("sqch,schm->sqhm", weights, parts).flatten(2)

    def advance(self, state: State, words: Tensor) -> tuple[State, Tensor]:
        """Read a word for each row; return what the next is written from."""
        pictures = len(state.about[0])

        def look(query: Tensor) -> Tensor:
            asked = query.view(pictures, len(query) // pictures, -1)
            return self.look(asked, state.about).reshape(len(query), -1)

        hidden, carry, *rest = state.rows
        if self.trial.decoder == "luong":
            hidden, carry = self.cell(words, (hidden, carry))
            seen = torch.cat([look(hidden), hidden], 1)
        elif self.trial.decoder == "xu":
            query = hidden + self.inform(words) if self.trial.informed else hidden
            context = torch.sigmoid(self.gate(hidden)) * look(query)
            hidden, carry = self.cell(torch.cat([words, context], 1), (hidden, carry))
            seen = torch.cat([hidden, context, words], 1)
        else:
            told, kept, summary = rest
            hidden, carry = self.cell(torch.cat([words, summary, told], 1), (hidden, carry))
            context = look(hidden)
            told, kept = self.second(torch.cat([context, hidden], 1), (told, kept))
            seen, rest = torch.cat([told, context, words], 1), [told, kept, summary]
        return State(state.about, (hidden, carry, *rest), state.lengths), seen

    def write(self, seen: Tensor) -> Tensor:
        return self.output(self.drop(torch.tanh(self.combine(seen))))

    def forward(self, features: Tensor, before: Tensor) -> Tensor:
        """Score every word, (captions, steps, words), told the word before each."""
        state, words, seen = self.encode(features), self.drop(self.embed(before)), []
        for step in range(before.shape[1]):
            state, made = self.advance(state, words[:, step])
            seen.append(made)
        return self.write(torch.stack(seen, 1))


@dataclass(frozen=True)
class State:
    """Where a decoder is, as a search wants it."""

    about: tuple[Tensor, ...]  # (pictures, ...): what can be looked at
    rows: tuple[Tensor, ...]  # (hypotheses, ...)
    lengths: Tensor

    def take(self, rows: Tensor, sources: Tensor | None = None) -> State:
        taken = tuple(part.index_select(0, rows) for part in self.rows)
        if sources is None:
            return State(self.about, taken, self.lengths)
        about = tuple(part.index_select(0, sources) for part in self.about)
        return State(about, taken, self.lengths.index_select(0, sources))


@dataclass(frozen=True)
class Step:
    state: State
    logits: Tensor
    weights: None = None


@dataclass(frozen=True)
class Writer:
    network: Network

    def step(self, state: State, previous: Tensor) -> Step:
        state, seen = self.network.advance(state, self.network.embed(previous))
        logits = self.network.write(seen)
        logits[:, PADDING] = logits[:, START] = -math.inf
        return Step(state, logits)


class Captions:
    """Captions of the training and dev pictures as ids, and features of the pictures."""

    def __init__(self, data: Path, features: Path) -> None:
        self.features = features
        self.references: dict[str, list[list[str]]] = {}
        self.places: dict[str, Tensor] = {}
        texts: dict[str, list[str]] = {}
        for part in ("train", "dev"):
            numbers: dict[str, int] = {}
            given = list(read_captioned(read_captions(data / f"{part}.parquet")))
            places = [numbers.setdefault(one.name, len(numbers)) for one in given]
            texts[part] = [one.caption or "" for one in given]
            self.references[part] = [[] for _ in numbers]
            for place, text in zip(places, texts[part], strict=True):
                self.references[part][place].append(text)
            self.places[part] = torch.tensor(places)
        self.units = build_units(texts["train"], CAPTION_UNITS)
        self.ids = {part: [cut.ids for cut in cut_texts(texts[part], self.units)] for part in texts}
        self._known: dict[str, Tensor] = {}

    def look(self, name: str) -> Tensor:
        """Features, (pictures, cells, features); another process may still be at work on them."""
        path, given_up = self.features / f"{name}.npy", time.time() + 150
        while not path.exists():
            if time.time() > given_up:
                raise FileNotFoundError(path)
            time.sleep(0.5)
        if name not in self._known:
            if len(self._known) > 3:
                self._known.clear()
            self._known[name] = torch.from_numpy(np.load(path)).to(DEVICE)
        return self._known[name]

    def padded(self, part: str, longest: int) -> Tensor:
        """Ids after the start, (captions, longest + 1)."""
        rows = np.full((len(self.ids[part]), longest + 1), PADDING)
        rows[:, 0] = START
        for row, ids in zip(rows, self.ids[part], strict=True):
            some = [*ids.tolist(), END][:longest]
            row[1 : 1 + len(some)] = some
        return torch.from_numpy(rows)


@torch.no_grad()
def judge(network: Network, captions: Captions, features: Tensor) -> dict[str, float]:
    """The loss of a word of the dev captions, and BLEU of what a beam of five writes."""
    network.eval()
    total = count = 0.0
    rows, places = captions.padded("dev", 40).to(DEVICE), captions.places["dev"].to(DEVICE)
    for some in torch.arange(len(rows)).split(500):
        told = rows[some]
        steps = int((told[:, 1:] != PADDING).sum(1).max())
        logits, truth = network(features[places[some]], told[:, :steps]), told[:, 1 : steps + 1]
        total += float(
            cross_entropy(
                logits.flatten(0, 1), truth.flatten(), ignore_index=PADDING, reduction="sum"
            )
        )
        count += int((truth != PADDING).sum())
    found = {"loss": total / count}
    written: dict[float, list[str]] = {power: [] for power in POWERS}
    for some in torch.arange(len(features)).split(250):
        state = network.encode(features[some.to(DEVICE)])
        ends = Ends(START, END, torch.full_like(state.lengths, 40))
        for best in beam_search(Writer(network), state, ends, width=5):
            for power, texts in written.items():
                one = max(best, key=lambda h: (h.ended, h.log_probability / len(h.ids) ** power))
                texts.append(captions.units.decode([id for id in one.ids.tolist() if id != END]))
    for power, texts in written.items():
        scores = score_captions(texts, captions.references["dev"])
        found |= {f"bleu_1@{power}": scores.bleu_1, f"bleu_4@{power}": scores.bleu_4}
    network.train()
    return found


class Training:
    """Trains one network; a step is captured once and then replayed."""

    def __init__(self, trial: Trial, captions: Captions) -> None:
        self.trial, self.captions = trial, captions
        torch.manual_seed(trial.seed)
        self.draw = np.random.default_rng(trial.seed)
        self.features = [captions.look(f"{name}-train") for name in (trial.grid, *trial.views)]
        self.network = Network(trial, len(captions.units), *reversed(self.features[0].shape[1:]))
        self.network.to(DEVICE)
        self.rows = captions.padded("train", LONGEST).to(DEVICE)
        self.places = captions.places["train"].to(DEVICE)
        self.rate = torch.tensor(0.0, device=DEVICE)
        on_gpu = DEVICE.type == "cuda"
        self.optimizer = torch.optim.Adam(
            self.network.parameters(), lr=self.rate, capturable=on_gpu
        )
        self.given = torch.zeros(trial.batch, *self.features[0].shape[1:], dtype=torch.float16)
        self.given = self.given.to(DEVICE)
        self.told = self.rows[: trial.batch].clone()
        self.graph = self._capture() if on_gpu else None

    def _step(self) -> None:
        truth = self.told[:, 1:]
        logits = self.network(self.given, self.told[:, :-1])
        total = cross_entropy(
            logits.flatten(0, 1),
            truth.flatten(),
            ignore_index=PADDING,
            reduction="sum",
            label_smoothing=self.trial.smoothing,
        )
        (total / (truth != PADDING).sum()).backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimizer.step()

    def _capture(self) -> torch.cuda.CUDAGraph:
        """Warm up, record a step, and undo what the warming did."""
        kept = [one.detach().clone() for one in self.network.parameters()]
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.optimizer.zero_grad(set_to_none=True)
                self._step()
        torch.cuda.current_stream().wait_stream(side)
        self.optimizer.zero_grad(set_to_none=True)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._step()
        with torch.no_grad():
            for one, was in zip(self.network.parameters(), kept, strict=True):
                one.copy_(was)
            for state in self.optimizer.state.values():
                for value in state.values():
                    value.zero_()
        return graph

    def run(self) -> Network:
        """Train, and return the network with the mean of its last weights."""
        trial, lengths = self.trial, np.array([len(ids) for ids in self.captions.ids["train"]])
        steps = len(self.rows) // trial.batch * trial.epochs
        warm, done, taken = max(1, int(0.05 * steps)), 0, []
        for epoch in range(trial.epochs):
            # Captions of similar length together, as the product has them.
            order = np.argsort(lengths + 3 * self.draw.random(len(lengths)), kind="stable")
            batches = [order[at : at + trial.batch] for at in range(0, len(order), trial.batch)]
            self.draw.shuffle(batches)
            for some in batches:
                if len(some) < trial.batch:
                    continue
                rise = (done + 1) / (warm + 1)
                fall = 1 - (done - warm) / (steps - warm)
                self.rate.fill_(trial.rate * min(rise, fall))
                self._learn(torch.from_numpy(some).to(DEVICE))
                done += 1
            if epoch >= trial.epochs - trial.average:
                taken.append([one.detach().clone() for one in self.network.parameters()])
        with torch.no_grad():
            for one, *some in zip(self.network.parameters(), *taken, strict=True):
                one.copy_(torch.stack(some).mean(0))
        return self.network

    def _learn(self, some: Tensor) -> None:
        self.told.copy_(self.rows[some])
        views = self.draw.integers(len(self.features), size=len(some))
        for number, features in enumerate(self.features):
            mine = torch.from_numpy(np.flatnonzero(views == number)).to(DEVICE)
            self.given[mine] = features[self.places[some[mine]]]
        if self.graph is None:
            self.optimizer.zero_grad(set_to_none=True)
            self._step()
        else:
            self.graph.replay()


def train(options: argparse.Namespace) -> None:
    """Work through the plan until the time is up."""
    torch.backends.cuda.matmul.allow_tf32 = True
    until, longest = time.time() + options.seconds, 40.0
    captions, origin = Captions(options.data, options.features), measuring.provenance()
    plan = [Trial(**{**one, "views": tuple(one.get("views", ()))}) for one in _read(options.plan)]
    for number, trial in enumerate(plan):
        if time.time() + longest > until:
            break
        claim = options.plan.with_name(f"{options.plan.stem}-{number}.claim")
        try:
            claim.touch(exist_ok=False)
        except FileExistsError:
            continue
        began = time.time()
        try:
            network = Training(trial, captions).run()
            found = judge(network, captions, captions.look(f"{trial.grid}-dev"))
        except (RuntimeError, FileNotFoundError):  # too large for what is left of the GPU
            traceback.print_exc()
            continue
        finally:
            if DEVICE.type == "cuda":
                torch.cuda.empty_cache()
        longest = time.time() - began
        line = {**origin, "trial": asdict(trial), **found, "seconds": longest}
        with options.found.open("a") as file:
            file.write(json.dumps(line) + "\n")
        print(number, trial, found, f"{longest:.0f} s", flush=True)


@torch.no_grad()
def features(options: argparse.Namespace) -> None:
    """Write the features of every grid that is asked for."""
    options.features.mkdir(parents=True, exist_ok=True)
    coarse, fine = (
        load_backbone(name, options.backbone).to(DEVICE)
        for name in ("efficientnet-lite0", "efficientnet-lite0-fine")
    )

    def finest(pictures: Tensor) -> Tensor:
        """The fine map, and what the network knows of each quarter of a cell before it."""
        nearest = fine.blocks[:5](fine._stem(pictures))
        return torch.cat([pixel_unshuffle(nearest, 2), fine(pictures)], 1)

    ways = {
        "coarse": (224, coarse, False),
        "fine": (224, fine, False),
        "fine-mirrored": (224, fine, True),
        "finest": (224, finest, False),
        "coarse-320": (320, coarse, False),
        "fine-320": (320, fine, False),
        "coarse-448": (448, coarse, False),
    }
    pixels: dict[tuple[str, int], Tensor] = {}
    for grid in options.grids:
        side, network, mirrored = ways[grid]
        for part in ("train",) if mirrored else ("train", "dev"):
            if (part, side) not in pixels:
                pixels[part, side] = _pixels(options.data / f"{part}.parquet", side)
            made = []
            for some in pixels[part, side].split(128):
                given = some.flip(-1) if mirrored else some
                made.append(network(given.to(DEVICE)).flatten(2).transpose(1, 2).half().cpu())
            waiting = options.features / f"{grid}-{part}.part.npy"
            np.save(waiting, torch.cat(made).numpy())
            waiting.rename(options.features / f"{grid}-{part}.npy")
            print(grid, part, flush=True)


def _pixels(path: Path, side: int) -> Tensor:
    pictures = {one.name: one for one in read_captioned(read_captions(path))}
    rows = [decode_picture(one.open(), side=side) for one in pictures.values()]
    return torch.from_numpy(np.stack(rows))


def join(options: argparse.Namespace) -> None:
    """Put what several processes found into one file of results."""
    found = [json.loads(line) for path in options.founds for line in path.open()]
    kept = ("commit", "date", "machine")
    result = {name: found[0][name] for name in kept}
    result["commit"] = ", ".join(sorted({one["commit"] for one in found}))
    result |= {"seeds": sorted({one["trial"]["seed"] for one in found})}
    result["trials"] = [
        {name: value for name, value in one.items() if name not in (*kept, "seeds")}
        for one in sorted(found, key=lambda one: one["loss"])
    ]
    measuring.save("flickr8k-search", result)


def _read(path: Path) -> list[dict[str, object]]:
    plan: list[dict[str, object]] = json.loads(path.read_text())
    return plan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    ways = parser.add_subparsers(required=True)
    for way in (features, train, join):
        one = ways.add_parser(way.__name__)
        one.set_defaults(way=way)
        one.add_argument("--data", type=Path, default=DATA)
        one.add_argument("--features", type=Path, default=Path("flickr8k-features"))
        if way is features:
            one.add_argument("--backbone", type=Path, required=True)
            one.add_argument("--grids", nargs="+", default=["fine"])
        elif way is train:
            one.add_argument("--plan", type=Path, required=True)
            one.add_argument("--found", type=Path, required=True)
            one.add_argument("--seconds", type=float, default=math.inf)
        else:
            one.add_argument("founds", type=Path, nargs="+")
    options = parser.parse_args()
    options.way(options)


if __name__ == "__main__":
    main()
