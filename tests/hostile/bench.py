"""Where a case runs: a fresh folder, the command under test, and what every ending must satisfy."""

import contextlib
import errno
import hashlib
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import regard
from support.cli_files import rows, write_csv
from support.parrots import FLAGS as PARROT_FLAGS
from support.parrots import parrots
from support.reviews import FLAGS, reviews

from .victim import Patience

HERE = Path(__file__).parent
SECONDS = 30.0
"""How long one command may compute, or wait; what takes longer hangs."""

CREATE, WRITE, RENAME, REMOVE = 1, 2, 4, 8
"""Kinds of calls that change files, as in faults.c."""
CHANGES = CREATE | WRITE | RENAME | REMOVE
COUNT, FAIL, FAIL_FROM_HERE, SIGNAL_BEFORE, SIGNAL_AFTER = range(5)
"""What is done at the call that a fault is about."""

# Tabs and line ends move the cursor as a reader expects; everything else may rewrite the screen.
_RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class Fault:
    """What happens at the ``at``-th call that changes a file below the folder of the case."""

    deed: int
    at: int = 0
    number: int = 0  # of the error, or of the signal
    kinds: int = CHANGES


FULL_DISK = CREATE | WRITE


def full_disk(at, *, once=False):
    """A disk that is full from one call on, or for one call alone."""
    return Fault(FAIL if once else FAIL_FROM_HERE, at, errno.ENOSPC, FULL_DISK)


@dataclass(frozen=True)
class Ran:
    """How a command ended: its code, below zero for a signal, and what it printed."""

    arguments: tuple[str, ...]
    code: int
    out: str
    err: str
    seen: int = 0  # calls that changed files
    stopped: int = 0  # the process that waits to go on, of a run that was stopped

    def __str__(self):
        shown = " ".join(self.arguments)
        printed = f"  out {self.out!r:.600}\n  err {self.err!r:.3000}"
        return f"regard {shown}\n  code {self.code}\n{printed}"


class Hung(AssertionError):
    """A command did not end in time."""


class Victim:
    """The process under test, started again where a case hung or broke it."""

    def __init__(self, faults, warm_up=()):
        self._faults = faults
        self._warm_up = warm_up  # requests that make it import what forks then need not
        self._process = None

    def ask(self, request, seconds):
        """Send a request and wait for its answer."""
        process = self._started()
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        # Where the fork is watched by the victim itself, it answers a little later at most.
        later = 20 if request.get("fork") else 0
        patience, ready = Patience(process.pid, seconds + later), []
        while not ready and not patience.ended():
            ready, _, _ = select.select([process.stdout], [], [], 1)
        line = process.stdout.readline() if ready else ""
        if not line:
            code = self.end()
            raise Hung(f"the process broke ({code})" if ready else "no answer: the command hung")
        answer = json.loads(line)
        if answer.get("hung"):
            raise Hung(f"no end after {seconds} s")
        return answer

    def end(self):
        """Stop the process; return how it ended by itself, if it did."""
        if self._process is not None:
            code = self._process.poll()
            self._process.kill()
            self._process.communicate()
            self._process = None
            return code
        return None

    def _started(self):
        if self._process is None or self._process.poll() is not None:
            source = str(Path(regard.__file__).parents[1])
            self._process = subprocess.Popen(
                [sys.executable, HERE / "victim.py"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={
                    **os.environ,
                    "PYTHONPATH": source,
                    "LD_PRELOAD": str(self._faults),
                    "OMP_NUM_THREADS": "1",
                    "MPLBACKEND": "Agg",
                },
            )
            if self._process.stdout.readline() != "ready\n":
                raise RuntimeError("the process under test does not start")
            for request in self._warm_up:
                self.ask(request, 120)
        return self._process


def build_faults(folder):
    """Compile what is preloaded."""
    path = Path(folder, "faults.so")
    flags = ["-O1", "-shared", "-fPIC", "-ldl"]
    subprocess.run(["cc", HERE / "faults.c", "-o", path, *flags], check=True)
    return path


@dataclass
class Bench:
    """The command, what it was trained on, and a fresh folder for each case."""

    faults: Path  # what is preloaded
    root: Path
    brief: bool = False  # whether time is short
    here: Victim = field(init=False)  # for commands that run one after the other in a process
    forks: Victim = field(init=False)  # for those that are stopped, killed or cut off
    project: Path = field(init=False)
    folder: Path = field(init=False)  # of the case

    def __post_init__(self):
        self.here = Victim(self.faults)
        self.project = self.root / "project"
        self.project.mkdir()
        self.folder = self.project
        _write_data(self.project)
        small = [*FLAGS, "--set", "training.epochs=4", "-q"]
        for name, seed in (("model", 0), ("other", 1)):
            self.must("train", "train.csv", *small, "--seed", seed, "--out", name)
        names = ["--task", "translate", "--source-column", "small", "--target-column", "large"]
        quick = [*PARROT_FLAGS, "--set", "training.epochs=2", "-q"]
        self.must("train", "pairs.tsv", *names, *quick, "--out", "translator")
        self.must("predict", "model", "new.jsonl", "-q", "--out", "answers.jsonl")
        self.must("predict", "other", "new.jsonl", "-q", "--out", "other.jsonl")
        self.must("translate", "translator", "lines.txt", "-q", "--out", "translations.txt")
        self._state = state(self.project)
        # A process of its own, which has done little: a fork inherits whatever lock a thread of
        # its parent held.
        warm = self.root / "warm"
        warm.mkdir()
        self.folder = warm
        self.forks = Victim(self.faults, [self._request(one) for one in self._usual_commands()])

    def _usual_commands(self):
        data, model = self.project / "train.csv", self.model
        yield "train", data, *FLAGS, "--epochs", 1, "-q", "--out", "model"
        for suffix in (".jsonl", ".parquet"):
            yield "predict", model, self.project / "new.jsonl", "-q", "--out", f"out{suffix}"
        for suffix in (".html", ".svg", ".png"):
            yield "explain", model, "--text", "A great film.", "-q", "--out", f"out{suffix}"
        for command in ("evaluate", "look"):
            yield command, model, data, "-q", "--out", f"{command}.html"
        yield "translate", self.translator, "a b c"

    def end(self):
        """Stop the processes under test."""
        self.here.end()
        self.forks.end()

    @property
    def model(self):
        """A trained classifier, which no case may change."""
        return self.project / "model"

    @property
    def translator(self):
        """A trained translator, which no case may change."""
        return self.project / "translator"

    @contextlib.contextmanager
    def fresh(self):
        """Give a case a folder of its own, and see that what all share is as it was."""
        made = Path(tempfile.mkdtemp(prefix="case.", dir=self.root)).resolve()
        self.folder = made
        try:
            yield made
            assert state(self.project) == self._state, "what all cases share was changed"
        finally:
            shutil.rmtree(made, onerror=_force)

    def run(self, *arguments, seconds=SECONDS, **options):
        """Run the command in the folder of the case."""
        request = self._request(arguments, seconds=seconds, **options)
        try:
            victim = self.forks if request["fork"] else self.here
            return _ran(request["arguments"], victim.ask(request, seconds))
        except Hung as problem:
            raise Hung(f"{problem}: regard {' '.join(request['arguments'])}") from None

    def _request(
        self,
        arguments,
        *,
        stdin=b"",
        fault=None,
        fork=False,
        closed=(),
        stdout=None,
        script="",
        seconds=SECONDS,
    ):
        plan = None
        if fault is not None:
            plan = [str(self.folder), fault.kinds, fault.at, fault.deed, fault.number]
        return {
            "arguments": tuple(
                str(one) if isinstance(one, int | float) else os.fsdecode(one) for one in arguments
            ),
            "folder": str(self.folder),
            "stdin": stdin.decode("latin-1"),
            "script": script,
            "fault": plan,
            "fork": fork or bool(closed),
            "closed": list(closed),
            "stdout": stdout,
            "seconds": seconds,
        }

    def go_on(self, ran, seconds=SECONDS):
        """Let a stopped run go on to its end."""
        request = {"go_on": ran.stopped, "fork": True, "seconds": seconds}
        return _ran(ran.arguments, self.forks.ask(request, seconds))

    def script(self, code, **options):
        """Run Python in the place of the command, in a fork."""
        return self.run("(Python)", script=code, fork=True, **options)

    def must(self, *arguments, **options):
        """Run a command that has to succeed."""
        ran = self.run(*arguments, seconds=120, **options)
        assert ran.code == 0, ran
        return ran


def _ran(arguments, answer):
    raw = (answer[name].encode("latin-1") for name in ("out", "err"))
    texts = (content.decode("utf-8", "surrogateescape") for content in raw)
    return Ran(arguments, answer["code"], *texts, answer["seen"], answer["stopped"])


def _write_data(folder):
    for name, count, seed in (("train.csv", 60, 0), ("test.csv", 12, 1)):
        write_csv(folder / name, [_renamed(row) for row in rows(count, seed)])
    texts = reviews(12, seed=2)[0]
    lines = [json.dumps({"id": place, "text": text}) for place, text in enumerate(texts)]
    (folder / "new.jsonl").write_text("\n".join(lines) + "\n")
    more = [json.dumps({"id": f"other {place}", "text": text}) for place, text in enumerate(texts)]
    (folder / "more.jsonl").write_text("\n".join(more[:7]) + "\n")
    pairs = zip(*parrots(120), strict=True)
    lines = ["small\tlarge", *("\t".join(pair) for pair in pairs)]
    (folder / "pairs.tsv").write_text("\n".join(lines) + "\n")
    (folder / "lines.txt").write_text("\n".join(parrots(8, seed=1)[0]) + "\n")


def _renamed(row):
    """A row with the names of columns that are found by themselves."""
    names = {"review": "text", "stars": "label"}
    return {names.get(name, name): value for name, value in row.items()}


def _force(remove, path, _):
    os.chmod(Path(path).parent, 0o700)
    os.chmod(path, 0o700)
    remove(path)


def state(folder):
    """What tells whether anything below a folder was touched: sizes, places and times."""
    found = {}
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = os.path.join(place, name)
            about = os.lstat(path)
            times = (about.st_mtime_ns, about.st_ctime_ns) if name in files else ()
            found[path] = (about.st_ino, about.st_size, *times)
    return found


def contents(folder):
    """What lies below a folder: of each file its bytes in short, of the rest its kind."""
    found = {}
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place, name)
            if path.is_symlink():
                kind = f"link to {os.readlink(path)}"
            elif path.is_dir():
                kind = "folder"
            elif not path.is_file():
                kind = "special"
            else:
                kind = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
            found[path.relative_to(folder).as_posix()] = kind
    return found


def accept(ran, codes=(0, 1)):
    """Hold that a command ended as ours must: well, or with one line that a person can read."""
    assert ran.code in codes, f"ended with {ran.code}\n{ran}"
    for word in ("Traceback", "Exception ignored", "Error in sys"):
        assert word not in ran.err, f"{word}\n{ran}"
    raw = _RAW.search(ran.err) or _RAW.search(ran.out)
    assert raw is None, f"raw control character {raw[0]!r}\n{ran}"
    if ran.code == 1:
        lines = ran.err.splitlines()
        assert len(lines) == 1, f"{len(lines)} lines in place of one\n{ran}"
        assert lines[0].startswith("error: "), f"an error must begin with error:\n{ran}"
        assert len(lines[0]) <= 1000, f"an error of {len(lines[0])} letters\n{ran}"
        assert "the system:" not in lines[0], f"an error must name what it is about\n{ran}"
    return ran


def signal_name(number):
    """A signal as people write it."""
    return signal.Signals(number).name
