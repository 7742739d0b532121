"""A full disk, a signal, a kill, another writer: at every single call that changes a file.

First a command runs undisturbed, and its calls that create, write, rename or remove something are
counted. Then it runs again for each of them, and that one call meets the disaster. Nothing is
drawn: every place is tried.
"""

import errno
import json
import shutil
import signal
from collections.abc import Callable
from dataclasses import dataclass

import pyarrow.parquet as pq

from .bench import (
    CHANGES,
    COUNT,
    FAIL,
    FULL_DISK,
    REMOVE,
    RENAME,
    SIGNAL_AFTER,
    SIGNAL_BEFORE,
    Fault,
    Ran,
    accept,
    contents,
    full_disk,
    signal_name,
)
from .cases import Case
from .inputs import SMALL

OLD = b"what was there before\n"


@dataclass(frozen=True)
class Deed:
    """A command that writes ``out``; over an older file or folder where ``over`` says so."""

    name: str
    arguments: Callable
    out: str
    over: bool = False
    resumes: bool = False  # whether an unfinished run may be left, to go on with
    equal: bool = True  # whether the same command writes the same bytes
    seconds: float = 30

    def prepare(self, bench):
        """Put what is to be replaced in its place."""
        if not self.over:
            return
        if "." in self.out:
            (bench.folder / self.out).write_bytes(OLD)
        else:
            shutil.copytree(bench.project / "other", bench.folder / self.out)

    def run(self, bench, *more, **options) -> Ran:
        """Run it in a fork."""
        given = (*self.arguments(bench.project), "--out", self.out, *more)
        return bench.run(*given, fork=True, seconds=self.seconds, **options)


def _reports():
    yield "evaluate", lambda p: ("evaluate", p / "model", p / "test.csv", "-q")
    yield "look", lambda p: ("look", p / "model", p / "test.csv", "-q")
    yield (
        "explain",
        lambda p: ("explain", p / "model", "--text", "A great film.", "-q", "--no-receipt"),
    )


def _predict(p):
    return ("predict", p / "model", p / "new.jsonl", "-q")


def _translate(p):
    return ("translate", p / "translator", p / "lines.txt", "-q", "--source-column", "small")


def _train(p):
    return ("train", p / "train.csv", *SMALL)


def _train_over(p):
    return (*_train(p), "--overwrite")


FILES = [
    *(
        Deed(f"predict{s}", _predict, f"out{s}", resumes=True)
        for s in (".jsonl", ".csv", ".tsv", ".parquet")
    ),
    Deed("predict over", _predict, "out.csv", over=True, resumes=True),
    *(Deed(f"translate{s}", _translate, f"out{s}") for s in (".txt", ".jsonl", ".parquet")),
    Deed("translate over", _translate, "out.txt", over=True),
    *(
        Deed(f"{name}{suffix} over", arguments, f"out{suffix}", over=True, equal=False)
        for name, arguments in _reports()
        for suffix in (".html", ".json")
    ),
    *(
        Deed(
            f"explain{suffix} over", list(_reports())[-1][1], f"out{suffix}", over=True, equal=False
        )
        for suffix in (".jsonl", ".svg", ".png")
    ),
]
TRAININGS = [
    Deed("train", _train, "out", resumes=True, equal=False),
    Deed("train over", _train_over, "out", over=True, resumes=True, equal=False),
]


def _deeds(bench):
    """All of them, or where time is short one of each way of writing."""
    return [FILES[1], FILES[3], FILES[5], FILES[9]] if bench.brief else [*FILES, *TRAININGS]


def counted(bench, deed, kinds=CHANGES):
    """How many calls of these kinds the command makes, and what it leaves when undisturbed."""
    with bench.fresh() as folder:
        deed.prepare(bench)
        ran = deed.run(bench, fault=Fault(COUNT, kinds=kinds))
        assert ran.code == 0, ran
        return ran.seen, contents(folder), _read(folder / deed.out)


def _read(path):
    return path.read_bytes() if path.is_file() else b""


def full_disks(bench):
    """The disk is full at the n-th call: from then on, or for that call alone."""
    for deed in _deeds(bench):
        count, left, whole = counted(bench, deed, FULL_DISK)
        for at in range(1, count + 1):
            for once in (False, True):
                name = f"{deed.name}-{'once' if once else 'lasting'}-{at}"
                yield Case(name, _disturbed(deed, full_disk(at, once=once), left, whole))


def failing_calls(bench):
    """A rename or a removal fails, as on a disk that gives way or a folder that was locked."""
    for deed in _deeds(bench):
        for kinds, number, word in (
            (RENAME, errno.EIO, "rename"),
            (REMOVE, errno.EACCES, "remove"),
        ):
            count, left, whole = counted(bench, deed, kinds)
            for at in range(1, count + 1):
                fault = Fault(FAIL, at, number, kinds)
                yield Case(f"{deed.name}-{word}-{at}", _disturbed(deed, fault, left, whole))


def signals(bench):
    """A signal at the n-th call: Ctrl-C before and after it, the end, the kill."""
    for deed in _deeds(bench):
        count, left, whole = counted(bench, deed)
        for at in range(1, count + 1):
            for deed_of, number in (
                (SIGNAL_BEFORE, signal.SIGINT),
                (SIGNAL_AFTER, signal.SIGINT),
                (SIGNAL_BEFORE, signal.SIGTERM),
                (SIGNAL_BEFORE, signal.SIGKILL),
                (SIGNAL_AFTER, signal.SIGKILL),
            ):
                side = "before" if deed_of == SIGNAL_BEFORE else "after"
                name = f"{deed.name}-{signal_name(number)}-{side}-{at}"
                fault = Fault(deed_of, at, number)
                yield Case(name, _disturbed(deed, fault, left, whole))


def _disturbed(deed, fault, left, whole):
    """Meet the disaster, then run the command again: all is there, nothing else is."""

    def run(bench):
        deed.prepare(bench)
        before = contents(bench.folder)
        ran = deed.run(bench, fault=fault)
        signalled = fault.deed in (SIGNAL_BEFORE, SIGNAL_AFTER)
        _accept_end(ran, fault.number if signalled else 0)
        _require_whole_or_old(bench, deed, before, ran, whole)
        gone = signalled and fault.number != signal.SIGINT
        # What the system refuses to remove stays.
        if not gone and fault.kinds != REMOVE:
            _require_tidy(bench, deed, before, ran)
        _run_again(bench, deed, left, whole, ran, gone=gone or fault.kinds == REMOVE)

    return run


def _accept_end(ran, number):
    if number in (signal.SIGTERM, signal.SIGKILL):
        assert ran.code in (-number, 128 + number, 0), ran
    elif number == signal.SIGINT and ran.code == 130:
        lines = [line for line in ran.err.splitlines() if not line.startswith("stopping")]
        assert lines == ["stopped"] and "Traceback" not in ran.err, ran
    elif number == signal.SIGINT:
        assert (
            ran.code == 0 and "Traceback" not in ran.err and "Exception ignored" not in ran.err
        ), ran
    else:
        accept(ran)


def _require_whole_or_old(bench, deed, before, ran, whole):
    """What stands under the name is the old, the new or nothing; after success it is the new."""
    place = bench.folder / deed.out
    if "." not in deed.out:
        if place.exists() or deed.over:
            found = bench.run("predict", deed.out, bench.project / "new.jsonl", "-q")
            assert found.code == 0, f"neither the old nor the new model is there\n{ran}\n{found}"
        assert ran.code != 0 or place.exists(), ran
        return
    if not place.exists():
        assert not deed.over and ran.code != 0, f"the older file is lost\n{ran}"
        return
    content = place.read_bytes()
    if deed.over and content == OLD:
        assert ran.code != 0, f"it ended well and wrote nothing\n{ran}"
    elif deed.equal:
        assert content == whole, f"half-written\n{ran}"
    else:
        _require_complete(place)


def _require_complete(path):
    content = path.read_bytes()
    if path.suffix == ".json":
        json.loads(content)
    elif path.suffix == ".jsonl":
        assert content.endswith(b"\n") and [json.loads(line) for line in content.splitlines()]
    elif path.suffix == ".html":
        assert content.rstrip().endswith(b"</html>"), content[-200:]
    elif path.suffix == ".svg":
        assert content.rstrip().endswith(b"</svg>"), content[-200:]
    elif path.suffix == ".png":
        assert content.endswith(b"IEND\xaeB`\x82")
    elif path.suffix == ".parquet":
        pq.read_table(path)
    else:
        raise AssertionError(path)


def _require_tidy(bench, deed, before, ran):
    """A run that could clean up leaves nothing but what it wrote and what it can go on with."""
    allowed = {deed.out}
    if deed.resumes and ran.code:
        allowed |= {f"{deed.out}.{kind}" for kind in ("part", "progress", "partial", "lock")}
    more = [
        name
        for name in contents(bench.folder)
        if name not in before
        and not any(name == one or name.startswith(f"{one}/") for one in allowed)
    ]
    assert not more, f"left behind: {more}\n{ran}"


def _run_again(bench, deed, left, whole, ran, *, gone):
    """The same command, once the disk has room again, gives what an undisturbed run gives."""
    more = ()
    again = deed.run(bench)
    if again.code == 1 and deed.resumes and "--resume" in accept(again).err:
        more = ("--resume",)
        again = deed.run(bench, *more)
    if again.code == 1 and "holds a model" in again.err and not deed.over:
        return  # the model was saved already, and is not replaced unasked
    assert again.code == 0, f"cannot be run again\n{ran}\n{again}"
    found = contents(bench.folder)
    if deed.equal:
        assert (bench.folder / deed.out).read_bytes() == whole, f"other rows\n{ran}\n{again}"
    names = {name for name in found if not (gone and _hidden(name))}
    assert names == set(left), f"not as after one run: {sorted(names ^ set(left))}\n{ran}"


def _hidden(name):
    """What a killed run could not remove, under a name that nobody else has."""
    return name.startswith(".regard-")


# Saving over a model from Python: the steps of a save alone, each with every disaster.


def saves(bench):
    count = _saved(bench, Fault(COUNT))
    for over in (True, False):
        for at in range(1, count + 1):
            for name, fault in {
                "full": full_disk(at),
                "full-once": full_disk(at, once=True),
                "SIGINT-before": Fault(SIGNAL_BEFORE, at, signal.SIGINT),
                "SIGINT-after": Fault(SIGNAL_AFTER, at, signal.SIGINT),
                "SIGTERM-before": Fault(SIGNAL_BEFORE, at, signal.SIGTERM),
                "SIGKILL-before": Fault(SIGNAL_BEFORE, at, signal.SIGKILL),
                "SIGKILL-after": Fault(SIGNAL_AFTER, at, signal.SIGKILL),
                "rename-fails": Fault(FAIL, at, errno.EIO, RENAME),
                "remove-fails": Fault(FAIL, at, errno.EACCES, REMOVE),
            }.items():
                if fault.kinds in (RENAME, REMOVE) and at > 12:
                    continue
                yield Case(f"{'over' if over else 'new'}-{name}-{at}", _save(fault, over=over))


_SAVE = "from regard import DocumentClassifier; DocumentClassifier.load({!r}).save({!r})"


def _saved(bench, fault):
    with bench.fresh() as folder:
        shutil.copytree(bench.project / "other", folder / "out")
        ran = bench.script(_SAVE.format(str(bench.model), "out"), fault=fault)
        assert ran.code == 0, ran
        return ran.seen


def _save(fault, *, over):
    def run(bench):
        place = bench.folder / "out"
        if over:
            shutil.copytree(bench.project / "other", place)
            (place / "report.html").write_text("kept")
        ran = bench.script(_SAVE.format(str(bench.model), "out"), fault=fault)
        asked = bench.run("predict", "out", bench.project / "new.jsonl", "-q", "--out", "a.jsonl")
        new, old = (bench.project / name for name in ("answers.jsonl", "other.jsonl"))
        if asked.code == 0:
            found = (bench.folder / "a.jsonl").read_bytes()
            assert found == new.read_bytes() or (over and found == old.read_bytes()), ran
            assert ran.code != 0 or found == new.read_bytes(), ran
        else:
            accept(asked)
            assert not over and ran.code != 0, (
                f"neither the old nor the new is there\n{ran}\n{asked}"
            )
        if over:
            assert (place / "report.html").read_text() == "kept", ran
        if ran.code >= 0 and fault.kinds != REMOVE:
            left = {name.split("/")[0] for name in contents(bench.folder)}
            assert left <= {"out", "a.jsonl"}, f"left behind: {left}\n{ran}"
        again = bench.script(_SAVE.format(str(bench.model), "out"))
        assert again.code == 0, again
        left = {name.split("/")[0] for name in contents(bench.folder)}
        assert left <= {"out", "a.jsonl"}, f"left behind after another save: {left}\n{ran}"

    return run


# Two writers: one is stopped at its n-th call, the other runs to its end, the first goes on.


def writers(bench):
    for deed in _deeds(bench):
        if deed.over:
            continue  # the older file is no matter here
        count, left, _ = counted(bench, deed)
        for at in range(1, count + 1, 1 if deed not in TRAININGS else 4):
            yield Case(f"{deed.name}-{at}", _two(deed, at, left))


def _two(deed, at, left):
    def run(bench):
        deed.prepare(bench)
        second = _other(deed)
        with_second = bench.folder
        alone = {}
        for name, one in (("first", deed), ("second", second)):
            # What each would write if it were alone.
            (bench.folder / name).mkdir()
            bench.folder = bench.folder / name
            one.prepare(bench)
            ran = one.run(bench)
            assert ran.code == 0, ran
            alone[name] = _essence(bench, one)
            bench.folder = with_second
            shutil.rmtree(bench.folder / name)
        first = deed.run(bench, fault=Fault(SIGNAL_BEFORE, at, signal.SIGSTOP))
        assert first.stopped, first
        ran = accept(second.run(bench))
        first = accept(bench.go_on(first))
        assert 0 in (first.code, ran.code), f"neither wrote\n{first}\n{ran}"
        found = _essence(bench, deed)
        wrote = {"first": first.code == 0, "second": ran.code == 0}
        assert any(found == alone[name] for name in alone if wrote[name]), (
            f"not what either wrote\n{first}\n{ran}"
        )
        names = set(contents(bench.folder))
        assert names == set(left), f"left behind: {sorted(names ^ set(left))}\n{first}\n{ran}"

    return run


def _other(deed):
    """The same command on other data."""

    def arguments(project):
        swapped = {
            project / "new.jsonl": project / "more.jsonl",
            project / "lines.txt": project / "pairs.tsv",
            project / "train.csv": project / "test.csv",
            project / "test.csv": project / "train.csv",
        }
        return tuple(swapped.get(one, one) for one in deed.arguments(project))

    return Deed(deed.name, arguments, deed.out, deed.over, deed.resumes, deed.equal, deed.seconds)


def _essence(bench, deed):
    """What a command wrote, less what differs from run to run."""
    place = bench.folder / deed.out
    if deed.out == "out":
        return (place / "weights.safetensors").read_bytes(), (place / "vocab.txt").read_bytes()
    return place.read_bytes() if deed.equal else len(place.read_bytes())


FAMILIES = {
    "full disks": full_disks,
    "failing calls": failing_calls,
    "signals": signals,
    "saves": saves,
    "writers": writers,
}
