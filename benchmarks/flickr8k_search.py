"""Flickr8k, dev pictures alone: many short trainings from which settings are chosen.

    python benchmarks/flickr8k_search.py features --backbone efficientnet-lite0.safetensors
    python benchmarks/flickr8k_search.py train --plan PLAN --found FOUND --seconds 400
    python benchmarks/flickr8k_search.py join FOUND...

The network is that of ``ShowAttendTell``, written on padded rows: then a step of the training is
one CUDA graph, and a training takes seconds. Beside it there are others that were never taken up:
a Transformer as the decoder, layers in which cells look at each other, cells of two scales, and
the last blocks of the backbone trained along. PLAN is a list of changes to ``Trial`` in JSON.
Several processes may work through the same plan; each trial is done by the first that comes to it.
Captions are cut after 22 words in training, and the weights are the mean of the last epochs. The
test pictures are never read; ``flickr8k.py`` trains what was chosen with the product and does.
"""

from __future__ import annotations

import argparse
import copy
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
from torch.nn.functional import cross_entropy, dropout, interpolate, pixel_unshuffle

from regard.data.captions import read_captioned, read_captions
from regard.data.pictures import decode_picture
from regard.estimators.captioner import CAPTION_UNITS
from regard.models.picture_reader import load_backbone
from regard.models.show_attend_tell import draw_places
from regard.nn.decoding.search import Ends, beam_search
from regard.nn.pictures import EfficientNetLite0
from regard.tasks.captions import score_captions
from regard.text.units import END, START, build_units
from regard.text.vocab import PADDING, cut_texts

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
LONGEST = 22
"""Words of a caption in training, the end counted."""
POWERS = (0.7, 1.0, 1.3)
"""Powers of the length by which the scores of a beam are divided."""
NEAR = 112
"""Features of a cell in the middle of the backbone; the others are those of its last map."""
HALF_WAY = 11
"""Blocks of the backbone up to there."""


@dataclass(frozen=True)
class Trial:
    """One training."""

    attention: str = "soft"  # or mean; hard; semi: hard for half of the captions in training;
    # pooled: the mean of the features themselves, before anything is learnt
    decoder: str = "xu"  # or luong; anderson: two LSTMs, of which the first asks; transformer
    layers: int = 2  # of the transformer
    inner: float = 0.3  # transformer: dropout inside of its blocks
    readout: float = 0.0  # transformer: dropout of what words are written from
    cells: str = "one"  # two: those in the middle of the backbone and the last, side by side
    encoder: int = 0  # layers in which cells look at each other
    whole: bool = False  # the mean of all cells is one more cell to look at
    tuned: float = 0.0  # what the last blocks of the backbone learn by, as a share of the rate
    curiosity: float = 0.01  # hard, semi: how much it is worth not to choose the same cell always
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


class Tail(nn.Module):
    """The last blocks of the backbone, from the map in its middle; its norms stay as they are."""

    def __init__(self, backbone: EfficientNetLite0) -> None:
        super().__init__()
        self.blocks = copy.deepcopy(backbone.blocks[HALF_WAY:])
        self.head = copy.deepcopy(backbone.head)
        self.requires_grad_(True)
        self.eval()

    def train(self, mode: bool = True) -> Tail:
        return self

    def forward(self, near: Tensor) -> Tensor:
        """Make of cells in the middle, (pictures, cells, 112), all features of the fine grid."""
        side = round(near.shape[1] ** 0.5)
        maps = near.transpose(1, 2).unflatten(2, (side, side))
        both = torch.cat([maps, interpolate(self.head(self.blocks(maps)), (side, side))], 1)
        return both.flatten(2).transpose(1, 2)


class Cells(nn.Module):
    """Features to what is known of every cell, and which of them cannot be seen."""

    def __init__(
        self, trial: Trial, features: int, cells: int, backbone: EfficientNetLite0 | None
    ) -> None:
        super().__init__()
        self.trial, self.side = trial, 1 if trial.attention == "pooled" else round(cells**0.5)
        self.tail = Tail(backbone) if trial.tuned and backbone is not None else None
        two = trial.cells == "two"
        sizes = (NEAR, features - NEAR) if two else (features,)
        self.project = nn.ModuleList(nn.Linear(size, trial.memory) for size in sizes)
        sides = (self.side, self.side // 2) if two else (self.side,)
        self.places = nn.ParameterList(
            nn.Parameter(draw_places(side, trial.memory)) for side in sides
        )
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                trial.memory,
                8,
                2 * trial.memory,
                trial.inner,
                batch_first=True,
                norm_first=True,
            )
            for _ in range(trial.encoder)
        )
        if trial.encoder:
            self.norm = nn.LayerNorm(trial.memory)

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return cells, (pictures, cells, memory), their mean, and those absent for a word."""
        trial, values = self.trial, features.float()
        if self.tail is not None:
            values = self.tail(values[..., :NEAR])
        if trial.attention == "pooled":
            values = values.mean(1, keepdim=True)
        ones = values.new_ones(len(values), 1, values.shape[2])
        values = values * dropout(ones, trial.dropout, self.training)
        scales = [values]
        if trial.cells == "two":
            maps = values[..., NEAR:].unflatten(1, (self.side, self.side))
            scales = [values[..., :NEAR], maps[:, ::2, ::2].flatten(1, 2)]
        made = [
            torch.relu(project(some)) + places
            for project, some, places in zip(self.project, scales, self.places, strict=True)
        ]
        memory = torch.cat(made, 1)
        absent = torch.zeros(memory.shape[:2], dtype=torch.bool, device=memory.device)
        if self.training and trial.unseen and trial.attention != "pooled":
            absent = torch.rand(absent.shape, device=memory.device) < trial.unseen
        for layer in self.layers:
            memory = layer(memory, src_key_padding_mask=absent if self.training else None)
        if trial.encoder:
            memory = self.norm(memory)
        parts = memory.split([some.shape[1] for some in made], 1)
        summary = torch.stack([part.mean(1) for part in parts]).mean(0)
        if trial.attention == "mean":  # the same at every word: one cell stands for all
            hidden = absent.float().split([some.shape[1] for some in made], 1)
            means = [
                torch.softmax(one[:, None] * -1e30, -1) @ part
                for one, part in zip(hidden, parts, strict=True)
            ]
            memory = torch.stack(means).mean(0)
            absent = absent[:, :1] & False
        elif trial.whole:
            memory = torch.cat([memory, summary[:, None]], 1)
            absent = torch.cat([absent, absent[:, :1] & False], 1)
        return memory, summary, absent


class Transformer(nn.Module):
    """A Transformer that looks at cells in every layer; otherwise as ``Network``."""

    def __init__(self, trial: Trial, words: int, cells: Cells) -> None:
        super().__init__()
        self.trial, self.cells, size = trial, cells, trial.hidden
        self.embed = nn.Embedding(words, size)
        nn.init.normal_(self.embed.weight, std=size**-0.5)
        self.steps = nn.Parameter(0.02 * torch.randn(64, size))
        self.given = nn.Linear(trial.memory, size)
        self.layers = nn.ModuleList(
            nn.TransformerDecoderLayer(
                size, trial.heads, 2 * size, trial.inner, batch_first=True, norm_first=True
            )
            for _ in range(trial.layers)
        )
        self.norm = nn.LayerNorm(size)
        self.bias = nn.Parameter(torch.zeros(words))

    def encode(self, features: Tensor) -> State:
        memory, _, absent = self.cells(features)
        rows = torch.zeros(len(memory), 0, dtype=torch.long, device=memory.device)
        lengths = torch.full((len(memory),), memory.shape[1], device=memory.device)
        return State((self.given(memory), absent), (rows,), lengths)

    def step(self, state: State, previous: Tensor) -> tuple[State, Tensor]:
        """Read all that was written; what is kept between the steps are the words themselves."""
        told = torch.cat([state.rows[0], previous[:, None]], 1)
        memory, absent = state.about
        often = len(told) // len(memory)
        about = (memory.repeat_interleave(often, 0), absent.repeat_interleave(often, 0))
        return State(state.about, (told,), state.lengths), self._write(told, about)[:, -1]

    def forward(self, features: Tensor, before: Tensor) -> Tensor:
        return self._write(before, self.encode(features).about)

    def _write(self, before: Tensor, about: tuple[Tensor, ...]) -> Tensor:
        memory, absent = about
        count = before.shape[1]
        values = self.embed(before) * self.trial.hidden**0.5 + self.steps[:count]
        values = dropout(values, self.trial.dropout, self.training)
        later = torch.ones(count, count, dtype=torch.bool, device=before.device).triu(1)
        for layer in self.layers:
            values = layer(values, memory, tgt_mask=later, memory_key_padding_mask=absent)
        seen = dropout(self.norm(values), self.trial.readout, self.training)
        return seen @ self.embed.weight.T + self.bias


class Network(nn.Module):
    """Show, attend and tell, where all rows have the same length."""

    def __init__(self, trial: Trial, words: int, cells: Cells) -> None:
        super().__init__()
        self.trial, self.cells = trial, cells
        memory, hidden, embedding = trial.memory, trial.hidden, trial.embedding
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
        self.drawn: list[tuple[Tensor, Tensor]] = []  # hard: of each word, log weight and entropy

    def drop(self, values: Tensor) -> Tensor:
        return dropout(values, self.trial.dropout, self.training)

    def encode(self, features: Tensor) -> State:
        """Look at features, (pictures, cells, features)."""
        memory, summary, absent = self.cells(features)
        state, carry = torch.tanh(self.start[0](summary)), self.start[1](summary)
        again = (state, carry) if self.trial.decoder == "anderson" else ()
        lengths = torch.full((len(memory),), memory.shape[1], device=memory.device)
        rows = (state, carry, *again, summary)
        self.drawn = []
        self.whether = torch.rand(len(memory), 1, 1, device=memory.device) < 0.5
        return State((memory, self.key(memory), absent[:, None]), rows, lengths)

    def look(self, query: Tensor, about: tuple[Tensor, ...]) -> Tensor:
        """Ask questions, (pictures, questions, hidden)."""
        memory, keys, absent = about
        if self.trial.attention == "mean":
            return memory.expand(-1, query.shape[1], -1)
        mixed = torch.tanh(keys[:, None] + self.query(query)[:, :, None])
        heads = self.trial.heads
        if heads == 1:
            scores = self.score(mixed).squeeze(-1).masked_fill(absent, -1e30)
            return self.choose(scores) @ memory
        scores = (mixed.unflatten(-1, (heads, -1)) * self.score.weight).sum(-1)
        weights = torch.softmax(scores.masked_fill(absent[..., None], -1e30), 2)
        parts = memory.unflatten(-1, (heads, -1))
        return torch.einsum("sqch,schm->sqhm", weights, parts).flatten(2)

    def choose(self, scores: Tensor) -> Tensor:
        """Make weights of scores, (pictures, questions, cells): of all cells, or of one."""
        weights, attention = torch.softmax(scores, -1), self.trial.attention
        if attention in ("soft", "pooled") or (attention == "semi" and not self.training):
            return weights
        if not self.training:
            return torch.zeros_like(weights).scatter(-1, weights.argmax(-1, keepdim=True), 1.0)
        noise = -torch.log(-torch.log(torch.rand_like(scores).clamp(1e-9, 1 - 1e-6)))
        chosen = (scores.detach() + noise).argmax(-1, keepdim=True)
        logs = torch.log_softmax(scores, -1)
        drawn, single = logs.gather(-1, chosen), torch.zeros_like(weights).scatter(-1, chosen, 1.0)
        if attention == "semi":
            drawn, single = drawn * self.whether, torch.where(self.whether, single, weights)
        self.drawn.append((drawn[:, 0, 0], -(weights * logs.clamp(min=-30)).sum(-1)[:, 0]))
        return single

    def exploration(self, logits: Tensor, truth: Tensor) -> Tensor:
        """REINFORCE, as ``ShowAttendTell`` has it: a sum over all words."""
        there = (truth != PADDING).float()
        with torch.no_grad():
            likely = torch.log_softmax(logits, -1).gather(-1, truth[..., None])[..., 0] * there
            rewards = likely.sum(1) / there.sum(1)
            better = rewards - rewards.mean()
        drawn, entropy = (torch.stack(some, 1) for some in zip(*self.drawn, strict=True))
        worth = better[:, None] * drawn + self.trial.curiosity * entropy
        return -(worth * there).sum()

    def step(self, state: State, previous: Tensor) -> tuple[State, Tensor]:
        state, seen = self.advance(state, self.embed(previous))
        return state, self.write(seen)

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
    network: Network | Transformer

    def step(self, state: State, previous: Tensor) -> Step:
        state, logits = self.network.step(state, previous)
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
def judge(network: Network | Transformer, captions: Captions, features: Tensor) -> dict[str, float]:
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

    def __init__(
        self, trial: Trial, captions: Captions, backbone: EfficientNetLite0 | None
    ) -> None:
        self.trial, self.captions = trial, captions
        torch.manual_seed(trial.seed)
        self.draw = np.random.default_rng(trial.seed)
        self.features = [captions.look(f"{name}-train") for name in (trial.grid, *trial.views)]
        cells = Cells(trial, *reversed(self.features[0].shape[1:]), backbone)
        kind = Transformer if trial.decoder == "transformer" else Network
        self.network: Network | Transformer = kind(trial, len(captions.units), cells)
        self.network.to(DEVICE)
        self.rows = captions.padded("train", LONGEST).to(DEVICE)
        self.places = captions.places["train"].to(DEVICE)
        self.lost = torch.zeros(2, device=DEVICE)  # in this epoch: the loss, and of how many words
        self.rates = [torch.tensor(0.0, device=DEVICE) for _ in range(2)]
        on_gpu = DEVICE.type == "cuda"
        tail = [] if cells.tail is None else list(cells.tail.parameters())
        known = {id(one) for one in tail}
        others = [one for one in self.network.parameters() if id(one) not in known]
        groups = [{"params": others, "lr": self.rates[0]}]
        if tail:
            groups.append({"params": tail, "lr": self.rates[1]})
        self.optimizer = torch.optim.Adam(groups, capturable=on_gpu)
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
        count = (truth != PADDING).sum()
        self.lost += torch.stack([total.detach(), count])
        if self.trial.attention in ("hard", "semi"):
            assert isinstance(self.network, Network)
            total = total + self.network.exploration(logits, truth)
        (total / count).backward()
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

    def run(self) -> Network | Transformer:
        """Train, and return the network with the mean of its last weights."""
        trial, lengths = self.trial, np.array([len(ids) for ids in self.captions.ids["train"]])
        steps = len(self.rows) // trial.batch * trial.epochs
        warm, done, taken = max(1, int(0.05 * steps)), 0, []
        for epoch in range(trial.epochs):
            # Captions of similar length together, as the product has them.
            order = np.argsort(lengths + 3 * self.draw.random(len(lengths)), kind="stable")
            batches = [order[at : at + trial.batch] for at in range(0, len(order), trial.batch)]
            self.draw.shuffle(batches)
            self.lost.zero_()
            for some in batches:
                if len(some) < trial.batch:
                    continue
                rise = (done + 1) / (warm + 1)
                fall = 1 - (done - warm) / (steps - warm)
                now = trial.rate * min(rise, fall)
                self.rates[0].fill_(now)
                self.rates[1].fill_(now * trial.tuned)
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
    name = "efficientnet-lite0-fine"
    backbone = load_backbone(name, options.backbone) if options.backbone is not None else None
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
            training = Training(trial, captions, backbone)
            network = training.run()
            found = judge(network, captions, captions.look(f"{trial.grid}-dev"))
            found["train_loss"] = float(training.lost[0] / training.lost[1])
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
    """Add what several processes found to the file of results."""
    found = [json.loads(line) for path in options.founds for line in path.open()]
    kept = ("commit", "date", "machine")
    before = json.loads((measuring.RESULTS / "flickr8k-search.json").read_text())
    commits = {*before["commit"].split(", "), *(one["commit"] for one in found)}
    trials = before["trials"] + [
        {name: value for name, value in one.items() if name not in (*kept, "seeds")}
        for one in found
    ]
    result = {name: found[0][name] for name in kept} | {"commit": ", ".join(sorted(commits))}
    result["seeds"] = sorted({one["trial"]["seed"] for one in trials})
    result["trials"] = sorted(trials, key=lambda one: one["loss"])
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
            one.add_argument("--backbone", type=Path, help="for trials that tune it")
            one.add_argument("--seconds", type=float, default=math.inf)
        else:
            one.add_argument("founds", type=Path, nargs="+")
    options = parser.parse_args()
    options.way(options)


if __name__ == "__main__":
    main()
