"""Shells that close descriptors, pipes that nobody reads, texts and options that nobody means."""

import itertools

from .bench import accept
from .cases import Case, obey
from .inputs import ESCAPES, PLAIN, SMALL

COMMANDS = {
    "predict": lambda b: ("predict", b.model, b.project / "new.jsonl"),
    "predict to a file": lambda b: (
        "predict",
        b.model,
        b.project / "new.jsonl",
        "--out",
        "out.csv",
    ),
    "predict input": lambda b: ("predict", b.model, "-"),
    "evaluate": lambda b: (
        "evaluate",
        b.model,
        b.project / "test.csv",
    ),
    "explain": lambda b: ("explain", b.model, "--text", "a great film", "--no-receipt"),
    "translate": lambda b: ("translate", b.translator, "a b c"),
    "translate input": lambda b: ("translate", b.translator, "-"),
    "look": lambda b: ("look", b.model, b.project / "new.jsonl", "--unlabelled"),
    "info": lambda b: ("info", b.model),
    "info json": lambda b: ("info", b.model, "--json"),
    "help": lambda b: ("--help",),
    "version": lambda b: ("--version",),
    "wrong usage": lambda b: ("predict",),
    "no file": lambda b: ("predict", b.model, "nowhere.csv"),
    "train": lambda b: (
        "train",
        b.project / "train.csv",
        *SMALL,
        "--out",
        "out",
    ),
    "experiments": lambda b: ("experiment", "list"),
}


def closed_descriptors(_):
    """Every command with every set of closed descriptors: it works, or ends without a trace."""
    for name, arguments in COMMANDS.items():
        for count in (1, 2, 3):
            for closed in itertools.combinations((0, 1, 2), count):
                for more in ((), ("-q",)):
                    if more and name in (
                        "info",
                        "info json",
                        "help",
                        "version",
                        "wrong usage",
                        "experiments",
                        "train",
                    ):
                        continue
                    shown = "".join(map(str, closed)) + "".join(more)
                    yield Case(f"{name}-closed-{shown}", _closed(arguments, closed, more))


def _closed(arguments, closed, more):
    def run(bench):
        ran = bench.run(*arguments(bench), *more, closed=closed, stdin=b"text\na great film\n")
        assert ran.code in (0, 1, 2), ran
        for word in ("Traceback", "Exception ignored"):
            assert word not in ran.err + ran.out, ran
        for path in bench.folder.iterdir():
            # A message must not land in a file that happened to get the closed number.
            content = path.read_bytes() if path.is_file() else b""
            assert path.name in ("out", "out.csv") and b"error: " not in content, path
            assert b"written" not in content, path

    return run


def full_outputs(_):
    """Standard output that takes nothing: one line says so."""
    for name, arguments in COMMANDS.items():
        yield Case(f"{name}-full", _into("/dev/full", arguments))


def _into(device, arguments):
    def run(bench):
        ran = bench.run(*arguments(bench), stdout=device, fork=True, stdin=b'{"text": "a"}\n')
        assert ran.code in (0, 1, 2), ran
        assert "Traceback" not in ran.err and "Exception ignored" not in ran.err, ran

    return run


TEXTS = {
    "empty": "",
    "space": " ",
    "newline": "\n",
    "escapes": ESCAPES.replace("\0", ""),
    "long word": "w" * 50_000,
    "long": "A great film. " * 700,
    "half": "\udcff\udc80",
    "emoji": "👩‍👩‍👧‍👦" * 50,
    "marks": "e" + "\u0301" * 5000,
    "direction": "‮‭‬" * 100,
    "zero width": "\u200b\ufeff" * 200,
    "dots": "." * 3000,
    "markup": "<script>alert(1)</script>",
    "rich": "[bold red]x[/] [link=file:///]",
    "dash": "-",
    "option": "--help",
    "path": "../../../etc/passwd",
    "cjk": "映画はとても良かった。" * 100,
    "thai": "ภาพยนตร์ที่ยอดเยี่ยม" * 50,
    "arabic": "فيلم رائع جدا. " * 50,
    "numbers": "1" * 5000,
    "quotes": "\"'`" * 500,
    "format": "%s %n {0} {x!r}",
    "lines": "a\r\nb\rc\n" * 200,
    "private": "\ue000\U0010ffff\ufffe",
    "hangul": "\u1100\u1161\u11a8" * 300,
}


def strange_texts(_):
    for name, text in TEXTS.items():
        for suffix in ("", ".html", ".json", ".svg", ".png"):
            yield Case(f"{name}-explain{suffix}", _explained(text, suffix))
        yield Case(f"{name}-translate", _given("translate", text))
        yield Case(f"{name}-look", _given("look", text))
        yield Case(f"{name}-translated page", _given("align", text))
        for command in ("predict", "translate"):
            yield Case(f"{name}-{command} input", _piped(command, text))


def _explained(text, suffix):
    def run(bench):
        out = ("--out", f"out{suffix}") if suffix else ()
        given = ("explain", bench.model, f"--text={text}", "--no-receipt", "-q", *out)
        obey(bench, *given, out=f"out{suffix}")

    return run


def _given(command, text):
    def run(bench):
        given = {
            "translate": ("translate", bench.translator, "-q", "--out", "out.txt", "--", text),
            "align": ("explain", bench.translator, f"--text={text}", "-q", "--out", "out.html"),
            "look": (
                "look",
                bench.model,
                bench.project / "new.jsonl",
                "--unlabelled",
                f"--word={text}",
                "-q",
                "--out",
                "out.html",
            ),
        }[command]
        obey(bench, *given, out=("out.txt", "out.html"))

    return run


def _piped(command, text):
    def run(bench):
        model = bench.model if command == "predict" else bench.translator
        content = text.encode("utf-8", "surrogateescape")
        if command == "predict":
            content = b"text\n" + content
        ran = bench.run(command, model, "-", "-q", stdin=content)
        assert "Traceback" not in ran.err and ran.code in (0, 1), ran
        if ran.code:
            accept(ran)

    return run


VALUES = (
    "",
    " ",
    "-1",
    "0",
    "1",
    "2",
    "0.5",
    "nan",
    "inf",
    "-inf",
    "1e999",
    "1e-999",
    "9" * 30,
    "9" * 5000,
    "x",
    "\x1b[31mred",
    "None",
    "true",
    "../x",
    "[]",
    "é",
    "\udcff",
    "1_0",
    "０",
)
"""What people and scripts give to an option by mistake."""
OPTIONS = {
    "predict": ("--text-column", "--abstain-below", "--encoding", "--on-bad-row", "--device"),
    "evaluate": (
        "--text-column",
        "--label-column",
        "--labels-separator",
        "--links",
        "--source-column",
    ),
    "explain": ("--limit", "--method", "--label", "--against", "--text-column", "--n-best"),
    "look": ("--limit", "--word", "--label-column"),
    "diff": ("--limit", "--show", "--min-overlap", "--method"),
    "audit": (
        "--limit",
        "--seed",
        "--method",
        "--models",
        "--uniform",
        "--evidence-column",
        "--train-data",
    ),
    "translate": ("--n-best", "--beam", "--temperature", "--seed", "--source-column"),
    "train": (
        *(
            "--validation",
            "--test",
            "--group-column",
            "--time-column",
            "--model",
            "--epochs",
            "--seed",
        ),
        *("--set", "--vectors", "--labels-separator", "--task", "--device", "--source-column"),
    ),
    "experiment": ("--seed", "--seeds", "--plot", "--set"),
}
SETTINGS = (
    "network.hidden_size",
    "network.layers",
    "network.encoder",
    "network.word_dropout",
    "training.epochs",
    "training.batch_size",
    "training.learning_rate",
    "training.seed",
    "training.patience",
    "text.min_count",
    "text.language",
    "text.nothing",
)


def strange_options(_):
    for command, options in OPTIONS.items():
        for option in options:
            for value in VALUES:
                yield Case(
                    f"{command}{option}={_short(value)}", _with(command, f"{option}={value}")
                )
    for setting in SETTINGS:
        for value in VALUES:
            name = f"set {setting}={_short(value)}"
            yield Case(name, _with("train", f"--set={setting}={value}"))


def _short(value):
    return f"{value!r:.40}" + (f" and {len(value)} in all" if len(value) > 40 else "")


def _with(command, option):
    def run(bench):
        (bench.folder / "in.csv").write_text(PLAIN)
        given = {
            "predict": ("predict", bench.model, "in.csv", "-q", "--out", "out.csv"),
            "evaluate": ("evaluate", bench.model, "in.csv", "-q", "--out", "out.json"),
            "explain": (
                "explain",
                bench.model,
                "in.csv",
                "-q",
                "--no-receipt",
                "--limit",
                "1",
                "--out",
                "out.json",
            ),
            "look": ("look", bench.model, "in.csv", "-q", "--out", "out.json"),
            "diff": ("diff", bench.model, bench.model, "in.csv", "-q", "--out", "out.json"),
            "audit": (
                "audit",
                bench.model,
                "in.csv",
                "-q",
                "--no-needle",
                "--limit",
                "1",
                "--method",
                "attention",
                "--out",
                "out.json",
            ),
            "translate": ("translate", bench.translator, "a b", "-q", "--out", "out.txt"),
            "train": ("train", "in.csv", *SMALL, "--out", "out"),
            "experiment": ("experiment", "nothing", "-q", "--out", "out"),
        }[command]
        made = next(one for place, one in enumerate(given) if given[place - 1] == "--out")
        # A diff that found something ends with 3.
        obey(bench, *given, option, out=made, codes=(0, 1, 2, 3))

    return run


FAMILIES = {
    "descriptors": closed_descriptors,
    "full outputs": full_outputs,
    "strange texts": strange_texts,
    "options": strange_options,
}
