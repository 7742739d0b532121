"""The process under test: runs the command again and again, as the shell would, and tells how.

It reads requests from its standard input and answers on its standard output, one JSON object a
line. A request runs the command in this process, or in a fork of it where signals, closed
descriptors or kills are meant. Torch is imported once.
"""

import contextlib
import ctypes
import faulthandler
import gc
import io
import json
import os
import resource
import select
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path

MEMORY = 4 << 30  # what a command may take beyond what the imports took


def main():
    requests, answers = (os.fdopen(os.dup(number), kind) for number, kind in ((0, "r"), (1, "w")))
    complaints = os.fdopen(os.dup(2), "w", buffering=1)
    _point_at_nothing()
    sys.excepthook = lambda *problem: traceback.print_exception(*problem, file=complaints)
    faulthandler.enable(complaints)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    command = _command()
    faults = ctypes.CDLL(os.environ["LD_PRELOAD"])
    faults.hostile_disarm.restype = ctypes.c_long
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, most))
    stopped = {}
    answers.write("ready\n")
    answers.flush()
    for line in requests:
        request = json.loads(line)
        if "go_on" in request:
            child = stopped.pop(request["go_on"])
            os.kill(child.pid, signal.SIGCONT)
            answer = child.watch(request["seconds"], faults)
        elif request["fork"]:
            child = _Child(command, faults, request)
            answer = child.watch(request["seconds"], faults)
            if answer["stopped"]:
                stopped[child.pid] = child
        else:
            answer = _here(command, faults, request)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _point_at_nothing():
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    os.close(nothing)


def _command():
    """Return the command's own entry; its table of options is built once, not at every call."""
    import typer.main

    import regard.cli.main as entry

    entry.app = typer.main.get_command(entry.app)
    return entry.main


def _run(command, faults, request, streams):
    """Run the command on descriptors 0, 1 and 2, as a fresh interpreter would; return its code."""
    os.chdir(request["folder"])
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    names = ("stdin", "stdout", "stderr")
    for number, name in enumerate(names):
        if number in request["closed"]:
            os.close(number)
            setattr(sys, name, None)
        else:
            binary = open(number, "wb" if number else "rb", closefd=False)  # noqa: SIM115
            wrapped = io.TextIOWrapper(binary, "utf-8", "strict" if number < 2 else None)
            setattr(sys, name, wrapped)
    sys.argv = ["regard", *request["arguments"]]
    if request["fault"]:
        below, kinds, at, deed, number = request["fault"]
        faults.hostile_arm(os.fsencode(below), kinds, ctypes.c_long(at), deed, number)
    try:
        with warnings.catch_warnings():
            # A fresh interpreter says each warning once, whatever ran before.
            warnings.simplefilter("default")
            for kind in (DeprecationWarning, PendingDeprecationWarning, ResourceWarning):
                warnings.simplefilter("ignore", kind)
            _do(command, request)
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1 if ended.code else 0
    except BaseException:
        with contextlib.suppress(Exception):
            traceback.print_exc()
        code = 1
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            code = 120  # as the interpreter does where its output cannot be written at the end
    return code


def _do(command, request):
    """Run the command, or a script of a user of the library, who is told in one line too."""
    if not request["script"]:
        command()
        return
    from regard.errors import RegardError

    try:
        exec(request["script"], {})
    except (RegardError, OSError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        sys.exit(130)


def _new_streams(request):
    given, out, err = (os.memfd_create(name) for name in ("in", "out", "err"))
    os.write(given, request["stdin"].encode("latin-1"))
    os.lseek(given, 0, os.SEEK_SET)
    if request["stdout"]:
        os.close(out)
        out = os.open(request["stdout"], os.O_WRONLY)
    return given, out, err


def _answer(streams, **more):
    texts = []
    for stream in streams[1:]:
        size = os.fstat(stream).st_size
        texts.append(os.pread(stream, size, 0).decode("latin-1") if size else "")
    for stream in streams:
        os.close(stream)
    return {"stopped": 0, **more, "out": texts[0], "err": texts[1]}


def _here(command, faults, request):
    streams = _new_streams(request)
    try:
        code = _run(command, faults, request, streams)
    finally:
        seen = faults.hostile_disarm()
        sys.stdin = sys.stdout = sys.stderr = None
        _point_at_nothing()
    return _answer(streams, code=code, seen=seen)


class Patience:
    """Tells when a process hangs: it computed for too long, or waits for what never comes.

    The processor's seconds count: on a busy machine those on the clock pass without it.
    """

    def __init__(self, pid, seconds):
        self._about = Path(f"/proc/{pid}/stat")
        self._seconds = seconds
        self._began = self._seen = self._computed()
        self._first = self._moved = time.monotonic()

    def _computed(self):
        """Seconds of the processor that it has taken."""
        with contextlib.suppress(OSError):
            fields = self._about.read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return self._seen  # it is gone, as its reader will see

    def ended(self):
        """Whether nothing is to be waited for any more."""
        computed, now = self._computed(), time.monotonic()
        if computed != self._seen:
            self._seen, self._moved = computed, now
        return (
            computed - self._began > self._seconds
            or now - self._moved > self._seconds
            or now - self._first > 20 * self._seconds
        )


class _Child:
    """One run of the command in a fork."""

    def __init__(self, command, faults, request):
        gc.freeze()
        self.streams = _new_streams(request)
        self.pid = os.fork()
        if not self.pid:
            os._exit(_run(command, faults, request, self.streams))

    def watch(self, seconds, faults):
        """Wait until it ends or stops; where it hangs it says where, and is killed."""
        patience = Patience(self.pid, seconds)
        waiting = os.pidfd_open(self.pid)
        try:
            while True:
                options = os.WEXITED | os.WSTOPPED | os.WNOHANG
                found = os.waitid(os.P_PID, self.pid, options | os.WNOWAIT)
                if found is not None and found.si_code == os.CLD_STOPPED:
                    os.waitid(os.P_PID, self.pid, os.WSTOPPED)
                    return {"stopped": self.pid, "code": 0, "seen": 0, "out": "", "err": ""}
                if found is not None:
                    _, status = os.waitpid(self.pid, 0)
                    break
                if patience.ended():
                    os.kill(self.pid, signal.SIGABRT)  # faulthandler prints where it is
                    os.waitpid(self.pid, 0)
                    _answer(self.streams)
                    return {"hung": True}
                # An end wakes us at once; a stop is looked for now and then.
                select.select([waiting], [], [], 0.005)
        finally:
            os.close(waiting)
        seen = faults.hostile_disarm()
        return _answer(self.streams, code=os.waitstatus_to_exitcode(status), seen=seen)


if __name__ == "__main__":
    main()
