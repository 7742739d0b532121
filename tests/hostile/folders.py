"""Saved models that were cut, turned over, exchanged or written by a stranger."""

import errno
import json
import os
import random
import shutil

from .cases import Case, obey

CLASSIFIER = (
    "config.json",
    "vocab.txt",
    "weights.safetensors",
    "card.md",
    "baseline.safetensors",
    "baseline.txt",
    "seen.safetensors",
    "wide.safetensors",
)
TRANSLATOR = (
    "config.json",
    "source_units.json",
    "target_units.json",
    "weights.safetensors",
    "card.md",
)
KINDS = {"classifier": CLASSIFIER, "translator": TRANSLATOR}


def copied(bench, kind):
    """Return a copy of a healthy folder, to be damaged."""
    healthy = bench.model if kind == "classifier" else bench.translator
    return shutil.copytree(healthy, bench.folder / "model")


def answer(bench, kind):
    """Ask the folder of the case; return its answers, or None where it is refused."""
    project = bench.project
    if kind == "classifier":
        asked = ("predict", "model", project / "new.jsonl", "-q", "--out", "out.jsonl")
    else:
        asked = ("translate", "model", project / "lines.txt", "-q", "--out", "out.txt")
    ran = obey(bench, *asked, out=asked[-1])
    return (bench.folder / asked[-1]).read_bytes() if ran.code == 0 else None


def healthy_answer(bench, kind):
    """What the folder says when nothing happened to it."""
    name = "answers.jsonl" if kind == "classifier" else "translations.txt"
    return (bench.project / name).read_bytes()


def refused_or_equal(bench, kind):
    """A damaged folder is refused, or what was damaged was no matter."""
    found = answer(bench, kind)
    if found is not None:
        assert found == healthy_answer(bench, kind), "a damaged folder gives other answers"


def damaged(kind, name, damage):
    """The case of a folder of which one file was damaged."""

    def run(bench):
        damage(copied(bench, kind) / name)
        refused_or_equal(bench, kind)
        obey(bench, "info", "model")

    return run


def rewritten(change):
    """Damage done to the bytes of a file."""

    def damage(path):
        path.write_bytes(change(path.read_bytes()))

    return damage


def flipped(draw_seed):
    """Turn over one bit somewhere."""

    def change(content):
        draw = random.Random(draw_seed)
        torn = bytearray(content)
        torn[draw.randrange(len(torn))] ^= 1 << draw.randrange(8)
        return bytes(torn)

    return rewritten(change)


def cut(share):
    """Keep a share of a file, counted in thousandths."""
    return rewritten(lambda content: content[: len(content) * share // 1000])


def in_place_of(make):
    """Something that is no file where a file should be."""

    def damage(path):
        path.unlink()
        make(path)

    return damage


DAMAGES = {
    "emptied": rewritten(lambda content: b""),
    "zeros": rewritten(lambda content: bytes(len(content))),
    "ones": rewritten(lambda content: b"\xff" * len(content)),
    "doubled": rewritten(lambda content: content * 2),
    "one more": rewritten(lambda content: content + b"\0"),
    "a line more": rewritten(lambda content: content + b"\n"),
    "a line less": rewritten(lambda content: b"".join(content.splitlines(True)[:-1])),
    "lines turned": rewritten(lambda content: b"".join(content.splitlines(True)[::-1])),
    "other ends": rewritten(lambda content: content.replace(b"\n", b"\r\n")),
    "mark": rewritten(lambda content: b"\xef\xbb\xbf" + content),
    "capitals": rewritten(lambda content: content.upper()),
    "utf-16": rewritten(lambda content: content.decode("latin-1").encode("utf-16")),
    "deep": rewritten(lambda content: b"[" * 100_000 + b"]" * 100_000),
    "deep object": rewritten(lambda content: b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    "digits": rewritten(lambda content: b"1" * 10_000),
    "null": rewritten(lambda content: b"null"),
    "a text": rewritten(lambda content: b'"text"'),
    "a list": rewritten(lambda content: b"[1, 2]"),
    "an object": rewritten(lambda content: b"{}"),
    "gone": lambda path: path.unlink(),
    "renamed": lambda path: path.rename(path.with_name(f"{path.name}.old")),
    "a folder": in_place_of(lambda path: path.mkdir()),
    "a pipe": in_place_of(lambda path: os.mkfifo(path)),
    "a loop": in_place_of(lambda path: path.symlink_to(path.name)),
    "dangling": in_place_of(lambda path: path.symlink_to("nowhere")),
    "device": in_place_of(lambda path: path.symlink_to("/dev/null")),
    "endless": in_place_of(lambda path: path.symlink_to("/dev/zero")),
}


def every_damage(_):
    """Each file of each kind of folder, damaged in each way."""
    for kind, names in KINDS.items():
        for name in names:
            for damage, do in DAMAGES.items():
                yield Case(f"{kind}-{name}-{damage}", damaged(kind, name, do))
            for share in range(20, 1000, 70):
                yield Case(f"{kind}-{name}-cut-{share}", damaged(kind, name, cut(share)))
            for other in names:
                if other != name:
                    yield Case(f"{kind}-{name}-as-{other}", _exchanged(kind, name, other))
            yield Case(f"{kind}-{name}-of-another", _of_another(kind, name))


def every_flip(_):
    """Single bits turned over in each file."""
    for kind, names in KINDS.items():
        for name in names:
            for seed in range(80):
                yield Case(f"{kind}-{name}-{seed}", damaged(kind, name, flipped(f"{name} {seed}")))


def _exchanged(kind, name, other):
    def run(bench):
        folder = copied(bench, kind)
        first, second = (folder / name).read_bytes(), (folder / other).read_bytes()
        (folder / name).write_bytes(second)
        (folder / other).write_bytes(first)
        refused_or_equal(bench, kind)

    return run


def _of_another(kind, name):
    """A file that is whole, of a model that was trained with another seed or for another task."""

    def run(bench):
        folder = copied(bench, kind)
        from_folder = bench.project / ("other" if kind == "classifier" else "model")
        if not (from_folder / name).exists():
            return
        shutil.copy(from_folder / name, folder / name)
        refused_or_equal(bench, kind)

    return run


# What a stranger may write into config.json: any value for any setting.


VALUES = {
    "null": None,
    "true": True,
    "zero": 0,
    "minus": -1,
    "one": 1,
    "large": 10**9,
    "larger": 10**30,
    "largest": 10**400,
    "fraction": 0.5,
    "tiny": 1e-320,
    "nan": float("nan"),
    "infinity": float("inf"),
    "text": "x",
    "empty": "",
    "escapes": "\x1b[31mred\x1b[0m\x07",
    "long": "x" * 100_000,
    "half": "\ud800",
    "list": [],
    "list of lists": [[1], [[2]]],
    "same twice": ["a", "a"],
    "numbers": [1, 2],
    "object": {},
    "nested": {"a": {"b": [None]}},
}


def settings_of(about, path=()):
    """The places of all values in ``config.json``, but not of every epoch's."""
    for key, value in about.items():
        yield (*path, key)
        if isinstance(value, dict) and key not in ("history", "files", "digests"):
            yield from settings_of(value, (*path, key))


def strange_settings(_):
    """Every setting of a folder with every strange value; what it answers must be sound."""
    for kind, keys in _SETTINGS.items():
        for path in keys:
            for name, value in VALUES.items():
                yield Case(f"{kind}-{'.'.join(path)}-{name}", _set_to(kind, path, value))
            yield Case(f"{kind}-{'.'.join(path)}-gone", _set_to(kind, path, _GONE))


_GONE = object()
_COMMON = (
    ("format",),
    ("version",),
    ("model",),
    ("task",),
    ("validation",),
    ("facts",),
    ("history",),
)
_NETWORK = (
    "embedding_size",
    "hidden_size",
    "layers",
    "encoder",
    "pooling",
    "score",
    "word_dropout",
)
_SETTINGS = {
    "classifier": (
        *_COMMON,
        *(
            (name,)
            for name in ("classes", "multilabel", "temperature", "text", "network", "training")
        ),
        *(("network", name) for name in (*_NETWORK, "attention_size", "unknown")),
        *(("training", name) for name in ("epochs", "seed", "batch_size", "learning_rate")),
        *(("text", name) for name in ("lowercase", "language", "min_count", "unknown")),
    ),
    "translator": (
        *_COMMON,
        *((name,) for name in ("units", "network", "training", "forcing", "generation")),
        *(("network", name) for name in ("embedding_size", "hidden_size", "layers", "attention")),
        *(("generation", name) for name in ("beam", "longest", "method", "temperature")),
        *(("units", name) for name in ("kind", "longest", "min_count")),
    ),
}


def _set_to(kind, path, value):
    def run(bench):
        place = copied(bench, kind) / "config.json"
        about = json.loads(place.read_text())
        part = about
        for key in path[:-1]:
            part = part[key]
        if value is _GONE:
            part.pop(path[-1], None)
        else:
            part[path[-1]] = value
        place.write_text(json.dumps(about))
        found = answer(bench, kind)
        if found is not None and kind == "classifier":
            _require_sound(found, several=path == ("multilabel",))
        obey(bench, "info", "model")

    return run


def _require_sound(content, *, several):
    """Probabilities are numbers from 0 to 1; they sum to one unless a text may have several."""
    for line in content.decode().splitlines():
        values = list(json.loads(line)["probabilities"].values())
        assert all(isinstance(value, float) and 0 <= value <= 1 for value in values), line
        assert several or abs(sum(values) - 1) < 1e-4, line


def whole_folders(_):
    """Folders that are no model at all, given to every command."""
    makers = {
        "nothing": lambda place: None,
        "empty": lambda place: place.mkdir(),
        "a file": lambda place: place.write_text("x"),
        "a loop": lambda place: place.symlink_to(place.name),
        "dangling": lambda place: place.symlink_to("nowhere"),
        "a pipe": lambda place: os.mkfifo(place),
        "a device": lambda place: place.symlink_to("/dev/zero"),
        "itself inside": lambda place: (place.mkdir(), (place / "config.json").symlink_to("..")),
        "config alone": lambda place: (
            place.mkdir(),
            (place / "config.json").write_text('{"format": 1}'),
        ),
        "newer": lambda place: (
            place.mkdir(),
            (place / "config.json").write_text('{"format": 99}'),
        ),
        "strange format": lambda place: (
            place.mkdir(),
            (place / "config.json").write_text('{"format": "\\u001b[1m"}'),
        ),
        "long format": lambda place: (
            place.mkdir(),
            (place / "config.json").write_text('{"format": %s}' % ("9" * 4000)),
        ),
        "strange task": lambda place: (
            place.mkdir(),
            (place / "config.json").write_text('{"format": 1, "task": "\\u001b[1m"}'),
        ),
    }
    commands = {
        "predict": lambda b: (
            "predict",
            "model",
            b.project / "new.jsonl",
            "-q",
            "--out",
            "out.csv",
        ),
        "evaluate": lambda b: (
            "evaluate",
            "model",
            b.project / "new.jsonl",
            "-q",
            "--out",
            "out.json",
        ),
        "explain": lambda b: ("explain", "model", "--text", "a", "-q", "--out", "out.json"),
        "translate": lambda b: ("translate", "model", "a", "-q", "--out", "out.txt"),
        "audit": lambda b: ("audit", "model", b.project / "new.jsonl", "-q", "--out", "out.json"),
        "look": lambda b: ("look", "model", b.project / "new.jsonl", "-q", "--out", "out.json"),
        "diff": lambda b: (
            "diff",
            b.model,
            "model",
            b.project / "new.jsonl",
            "-q",
            "--out",
            "out.json",
        ),
        "info": lambda b: ("info", "model"),
        "train": lambda b: ("train", b.project / "new.jsonl", "-q", "--out", "model"),
    }
    for name, make in makers.items():
        for command, arguments in commands.items():
            yield Case(f"{name}-{command}", _not_a_model(make, arguments))


def _not_a_model(make, arguments):
    def run(bench):
        make(bench.folder / "model")
        ran = obey(bench, *arguments(bench))
        assert ran.code == 1, ran

    return run


def cut_runs(_):
    """What a killed prediction left, damaged: going on gives the right rows, or says why not."""
    notes = {
        "empty": b"",
        "null": b"null",
        "list": b"[]",
        "text": b'"x"',
        "deep": b"[" * 100_000,
        "noise": bytes(range(256)),
        "rows gone": b'{"bytes": 10, "task": {}}',
        "other task": b'{"rows": 3, "bytes": 10, "task": {"model": "x"}}',
    }
    for name, content in notes.items():
        yield Case(f"note-{name}", _noted(lambda about, content=content: content))
    for field in ("rows", "bytes", "task"):
        for name, value in VALUES.items():
            yield Case(f"note-{field}-{name}", _noted(_with(field, value)))
    for seed in range(60):
        yield Case(f"note-flip-{seed}", _noted(None, note_seed=seed))
        yield Case(f"rows-flip-{seed}", _noted(None, rows_seed=seed))


def _with(field, value):
    return lambda about: json.dumps({**about, field: value}).encode()


def _noted(change, note_seed=None, rows_seed=None):
    def run(bench):
        from .bench import FAIL, RENAME, Fault

        given = ("predict", bench.model, bench.project / "new.jsonl", "-q", "--out", "out.jsonl")
        # The last rename gives the file its name; without it an unfinished run is left.
        count = bench.run(*given, fault=Fault(0, 0, 0, RENAME), fork=True).seen
        (bench.folder / "out.jsonl").unlink()
        ran = bench.run(*given, fault=Fault(FAIL, count, errno.EIO, RENAME), fork=True)
        assert ran.code == 1, ran
        notes, part = (bench.folder / f"out.jsonl.{name}" for name in ("progress", "part"))
        assert notes.exists() and part.exists(), f"what was written is lost\n{ran}"
        if note_seed is not None:
            flipped(note_seed)(notes)
        elif rows_seed is not None:
            flipped(rows_seed)(part)
        else:
            notes.write_bytes(change(json.loads(notes.read_bytes())))
        from .bench import accept

        ran = accept(bench.run(*given, "--resume"))
        if ran.code == 0:
            whole = (bench.folder / "out.jsonl").read_bytes()
            assert whole == healthy_answer(bench, "classifier"), "a damaged run gives other rows"
        else:
            assert not (bench.folder / "out.jsonl").exists(), ran

    return run


FAMILIES = {
    "damage": every_damage,
    "flips": every_flip,
    "settings": strange_settings,
    "folders": whole_folders,
    "notes": cut_runs,
}
