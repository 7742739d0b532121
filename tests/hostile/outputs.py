"""Places where nobody should write: what stands there stays, and the command says why."""

import fcntl
import os

from .cases import Case, obey
from .inputs import PLAIN, SMALL


def _link(folder, suffix, to):
    (folder / f"out{suffix}").symlink_to(to)
    return f"out{suffix}"


def _older(folder, suffix):
    (folder / f"out{suffix}").write_text("older")
    return f"out{suffix}"


def _below_a_file(folder, suffix):
    (folder / "file").write_text("x")
    return f"file/out{suffix}"


def _folder(folder, suffix):
    (folder / f"out{suffix}").mkdir()
    (folder / f"out{suffix}" / "kept.txt").write_text("kept")
    return f"out{suffix}"


def _pipe(folder, suffix):
    os.mkfifo(folder / f"out{suffix}")
    return f"out{suffix}"


def _link_to_input(folder, suffix):
    (folder / f"link{suffix}").symlink_to("in.csv")
    return f"link{suffix}"


def _hard_link_to_input(folder, suffix):
    os.link(folder / "in.csv", folder / f"link{suffix}")
    return f"link{suffix}"


def _link_to_folder(folder, suffix):
    (folder / "real").mkdir()
    (folder / "linked").symlink_to("real")
    return f"linked/out{suffix}"


def _link_to_older(folder, suffix):
    (folder / "real").write_text("older")
    return _link(folder, suffix, "real")


def _locked(folder, suffix):
    (folder / "locked").mkdir(mode=0o500)
    return f"locked/out{suffix}"


TARGETS = {
    "root": lambda folder, suffix: "/",
    "here": lambda folder, suffix: ".",
    "here with slash": lambda folder, suffix: "./",
    "above": lambda folder, suffix: "..",
    "far above": lambda folder, suffix: "../" * 40,
    "empty": lambda folder, suffix: "",
    "space": lambda folder, suffix: " ",
    "home": lambda folder, suffix: "~",
    "suffix alone": lambda folder, suffix: suffix or ".x",
    "dots": lambda folder, suffix: f"...{suffix}",
    "no suffix": lambda folder, suffix: "out",
    "unknown suffix": lambda folder, suffix: "out.xyz",
    "capitals": lambda folder, suffix: f"OUT{suffix.upper()}",
    "two suffixes": lambda folder, suffix: f"out{suffix}{suffix}",
    "slash at the end": lambda folder, suffix: f"out{suffix}/",
    "older": _older,
    "new folders": lambda folder, suffix: f"a/b/c/out{suffix}",
    "up and down": lambda folder, suffix: f"a/../b/out{suffix}",
    "below a file": _below_a_file,
    "a folder": _folder,
    "a pipe": _pipe,
    "dangling link": lambda folder, suffix: _link(folder, suffix, "nowhere/at/all"),
    "link to nothing": lambda folder, suffix: _link(folder, suffix, f"new{suffix}"),
    "link to itself": lambda folder, suffix: _link(folder, suffix, f"out{suffix}"),
    "link to older": _link_to_older,
    "link to folder": _link_to_folder,
    "link to here": lambda folder, suffix: _link(folder, suffix, "."),
    "link to input": _link_to_input,
    "hard link to input": _hard_link_to_input,
    "input": lambda folder, suffix: "in.csv",
    "input by another way": lambda folder, suffix: "./nothing/../in.csv",
    "long name": lambda folder, suffix: "x" * (255 - len(suffix)) + suffix,
    "too long name": lambda folder, suffix: "x" * 300 + suffix,
    "too long path": lambda folder, suffix: "x/" * 3000 + suffix,
    "newline": lambda folder, suffix: f"a\nb{suffix}",
    "escapes": lambda folder, suffix: f"\x1b[31mred\x1b[0m\x07{suffix}",
    "no utf-8": lambda folder, suffix: os.fsdecode(b"caf\xe9") + suffix,
    "emoji": lambda folder, suffix: f"🎬{suffix}",
    "markup": lambda folder, suffix: f"<b>[red]&{suffix}",
    "dash": lambda folder, suffix: f"-out{suffix}",
    "process": lambda folder, suffix: f"/proc/out{suffix}",
    "device": lambda folder, suffix: "/dev/full",
    "system": lambda folder, suffix: f"/sys/out{suffix}",
    "in a model": lambda folder, suffix: f"model/out{suffix}",
    "config of a model": lambda folder, suffix: "model/config.json",
    "weights of a model": lambda folder, suffix: "model/weights.safetensors",
    "words of a model": lambda folder, suffix: "model/vocab.txt",
    "a model": lambda folder, suffix: "model",
    "locked": _locked,
}
"""Where to write, by name; what is needed for it is put into the folder of the case."""

COMMANDS = {
    "predict.csv": ("predict", ".csv", ("model", "in.csv", "-q")),
    "predict.parquet": ("predict", ".parquet", ("model", "in.csv", "-q")),
    "predict skip": ("predict", ".csv", ("model", "in.csv", "-q", "--on-bad-row", "skip")),
    "translate.txt": (
        "translate",
        ".txt",
        ("translator", "in.csv", "-q", "--source-column", "text"),
    ),
    "translate.csv": (
        "translate",
        ".csv",
        ("translator", "in.csv", "-q", "--source-column", "text"),
    ),
    "evaluate.json": ("evaluate", ".json", ("model", "in.csv", "-q")),
    "evaluate.html": ("evaluate", ".html", ("model", "in.csv", "-q")),
    "evaluate translator": (
        "evaluate",
        ".json",
        ("translator", "in.csv", "-q", "--source-column", "text", "--target-column", "label"),
    ),
    "explain.html": ("explain", ".html", ("model", "in.csv", "-q", "--limit", 1)),
    "explain.jsonl": ("explain", ".jsonl", ("model", "in.csv", "-q", "--limit", 2)),
    "explain.svg": ("explain", ".svg", ("model", "--text", "a great film", "-q", "--no-receipt")),
    "explain translator": ("explain", ".html", ("translator", "--text", "a b", "-q")),
    "look.json": ("look", ".json", ("model", "in.csv", "-q")),
    "diff.html": ("diff", ".html", ("model", "model", "in.csv", "-q")),
    "train": ("train", "", ("in.csv", *SMALL)),
    "train that fails": ("train", "", ("in.csv", "--text-column", "nothing", *SMALL)),
    "export": ("export", "", ("model", "-q", "--overwrite", "--to", "onnx")),
}


def odd_targets(_):
    for target, place in TARGETS.items():
        for name, (command, suffix, arguments) in COMMANDS.items():
            yield Case(f"{target}-{name}", _written(command, suffix, arguments, place))


def _written(command, suffix, arguments, place):
    def run(bench):
        (bench.folder / "in.csv").write_text(PLAIN)
        for name in ("model", "translator"):
            _copy(bench.project / name, bench.folder / name)
        out = place(bench.folder, suffix)
        given = [str(one) for one in arguments]
        reader = _opened(bench.folder / out)
        allowed = (
            os.path.normpath(out) if out else "",
            "real",
            f"real/out{suffix}",
            f"new{suffix}",
            "nowhere",
        )
        codes = (0, 1, 2) if out.startswith("-") else (0, 1)
        if "in.csv" not in given:
            allowed += ("in.csv",)
        try:
            to = ("--", out) if command == "export" else (f"--out={out}",)
            ran = obey(bench, command, *given, *to, out=allowed, codes=codes)
        finally:
            if reader is not None:
                os.close(reader)
        for name in ("model", "translator"):
            for path in (bench.project / name).iterdir():
                same = (bench.folder / name / path.name).read_bytes() == path.read_bytes()
                assert same, f"{name}/{path.name} was replaced\n{ran}"

    return run


def _opened(path):
    """Read at the other end of a pipe, so that whoever writes does not wait for a reader."""
    try:
        if not path.is_fifo():
            return None
    except OSError:
        return None
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 1 << 20)
    return reader


def _copy(folder, place):
    place.mkdir()
    for path in folder.iterdir():
        (place / path.name).write_bytes(path.read_bytes())


FAMILIES = {"outputs": odd_targets}
