"""Files of every format that nobody would write on purpose, or only to do harm."""

import contextlib
import csv
import datetime
import decimal
import encodings
import gzip
import io
import json
import os
import pkgutil
import random
import socket

import pyarrow as pa
import pyarrow.parquet as pq

from support.reviews import reviews

from .cases import Case, obey

TEXTS = reviews(6, seed=5)[0]
SMALL = [
    *("--set", "network.embedding_size=4", "--set", "network.hidden_size=4"),
    *("--set", "network.attention_size=4", "--set", "training.batch_size=4"),
    *("--epochs", "1", "--no-baseline", "-q"),
]
"""The quickest training there is."""
ESCAPES = "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b2J \x7f \x08 \x00 ‮ end"


def command_on(name, command):
    """Return what runs a command on the file of that name, in the folder of a case."""

    def run(bench):
        given = {
            "predict": ("predict", bench.model, name, "-q", "--out", "out.jsonl"),
            "skip": (
                *("predict", bench.model, name, "-q"),
                "--on-bad-row",
                "skip",
                "--out",
                "out.csv",
            ),
            "evaluate": ("evaluate", bench.model, name, "-q", "--out", "out.json"),
            "explain": ("explain", bench.model, name, "-q", "--limit", "2", "--out", "out.html"),
            "look": ("look", bench.model, name, "-q", "--limit", "4", "--out", "out.html"),
            "translate": ("translate", bench.translator, name, "-q", "--out", "out.txt"),
            "train": ("train", name, *SMALL, "--out", "out"),
        }[command]
        out = "out" if command == "train" else given[-1]
        return obey(bench, *given, out=out)

    return run


def on_file(kind, name, content, command="predict"):
    """The case of a command on a file with these bytes."""

    def run(bench):
        (bench.folder / name).write_bytes(content)
        return command_on(name, command)(bench)

    return Case(f"{kind}-{command}", run)


# Bytes that no format expects; each is given to all of them.


def table(rows, delimiter=",", end="\r\n"):
    """Rows as CSV."""
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator=end).writerows(rows)
    return file.getvalue()


def json_lines(rows):
    """Rows as JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


PLAIN = table(
    [("id", "text", "label"), *((n, t, ("bad", "good")[n % 2]) for n, t in enumerate(TEXTS))]
)
LINES = json_lines(
    {"id": n, "text": t, "label": ("bad", "good")[n % 2]} for n, t in enumerate(TEXTS)
)


def odd_bytes():
    """Content by name."""
    plain, lines = PLAIN.encode(), LINES.encode()
    draw = random.Random(7)
    yield from {
        "nothing": b"",
        "one newline": b"\n",
        "newlines": b"\n" * 50,
        "carriage returns": b"\r" * 50,
        "spaces": b"   \n \t \n",
        "one null": b"\0",
        "nulls": b"\0" * 5000,
        "header alone": b"id,text,label\n",
        "header without end": b"id,text,label",
        "mark alone": b"\xef\xbb\xbf",
        "mark of utf-16 alone": b"\xff\xfe",
        "odd utf-16": b"\xff\xfe" + "text\na".encode("utf-16-le") + b"x",
        "utf-32": PLAIN.encode("utf-32"),
        "utf-16 without mark": PLAIN.encode("utf-16-le"),
        "two marks": b"\xef\xbb\xbf" * 2 + plain,
        "mark in the middle": plain + b"\xef\xbb\xbf" + plain,
        "plain": plain,
        "lines": lines,
        "lines then plain": lines + plain,
        "old ends": plain.replace(b"\r\n", b"\r"),
        "mixed ends": plain.replace(b"\r\n", b"\n", 3),
        "no last end": plain.rstrip(),
        "open quote": b'text,label\n"never closed,good\n' + b"more\n" * 40,
        "quote inside": b'text,label\na "quoted" word,good\nb"c"d,bad\n',
        "null in text": b"text,label\na\0b,good\nc,bad\n",
        "null in header": b"te\0xt,label\na,good\n",
        "escapes": f"text,label,{ESCAPES}\n{ESCAPES},good,{ESCAPES}\n".encode(),
        "escapes as header": f"{ESCAPES}\n{ESCAPES}\n".encode(),
        "too many fields": b"text,label\na,good,x,y,z\n" * 3,
        "too few fields": b"text,label,id\na\nb\n",
        "same column twice": b"text,text,label\na,b,good\n",
        "empty names": b",,\na,b,c\n",
        "text missing": b"id,label\n1,good\n",
        "many columns": ",".join(["text", "label", *map(str, range(1500))]).encode()
        + b"\na,good\n",
        "many delimiters": b";" * 3000 + b"\n" + b"," * 3000,
        "long field": b"text,label\n" + b"word " * 40_000 + b",good\n",
        "one long word": b"text,label\n" + b"w" * 200_000 + b",good\n",
        "many sentences": b"text,label\n" + b"A. " * 8000 + b",good\n",
        "long header": b"t" * 100_000 + b"\na\n",
        "long label": b"text,label\na," + b"l" * 100_000 + b"\n",
        "surrogates": b"text,label\n\xed\xa0\x80 half,good\nb,bad\n",
        "overlong": b"text,label\n\xc0\xaf\xe0\x80\xaf,good\n",
        "beyond unicode": b"text,label\n\xf4\x90\x80\x80,good\n",
        "cut character": b"text,label\nab\xe2\x82",
        "latin": "text,label\ncafé brûlé 20 €,good\nnaïve,bad\n".encode("cp1252"),
        "signs of cp1252": "text,label\n„5 m²“ ± 3 µm × 2,good\n".encode("cp1252"),
        "cyrillic": "text,label\nпривет мир,good\n".encode("cp1251"),
        "shift jis": "text,label\n日本語の文章,good\n".encode("shift_jis"),
        "formulas": b"text,label\n=1+1,@SUM(A1)\n+1,-2\n\"=cmd|' /C calc'!A0\",good\n",
        "array": json.dumps([{"text": "a", "label": "good"}]).encode(),
        "array over lines": json.dumps([{"text": "a"}] * 5, indent=2).encode(),
        "one object": b'{"text": "a", "label": "good"}',
        "cut object": lines[:-20],
        "two objects a line": b'{"text": "a"} {"text": "b"}\n',
        "numbers as lines": b"1\n2\n3\n",
        "nulls as lines": b"null\nnull\n",
        "deep arrays": b"[" * 100_000 + b"]" * 100_000,
        "deep objects": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
        "deep value": b'{"text": "a", "x": ' + b"[" * 3000 + b"]" * 3000 + b"}\n",
        "large number": b'{"text": "a", "x": 1' + b"0" * 10_000 + b"}\n",
        "html": b"<!DOCTYPE html><html><script>alert(1)</script></html>",
        "pickle": b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00\x8c\x07builtins\x94.",
        "parquet mark": b"PAR1" + b"\0" * 100 + b"PAR1",
        "gzip mark": b"\x1f\x8b" + b"\0" * 30,
        "gzip": gzip.compress(plain),
        "gzip twice": gzip.compress(gzip.compress(plain)),
        "cut gzip": gzip.compress(plain * 50)[:-30],
        "gzip and more": gzip.compress(plain) + b"more",
        "gzip of nothing": gzip.compress(b""),
        "gzip of zeros": gzip.compress(b"\0" * 3_000_000),
        "zip": b"PK\x03\x04" + b"\0" * 60,
        "noise": draw.randbytes(4000),
        "more noise": draw.randbytes(70_000),
    }.items()
    for number in range(40):
        torn = bytearray(plain if number % 2 else lines)
        for _ in range(1 + number % 5):
            torn[draw.randrange(len(torn))] = draw.randrange(256)
        yield f"torn {number}", bytes(torn)


SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".txt", ".csv.gz", ".parquet")


def bytes_in_every_format(_):
    for place, (name, content) in enumerate(odd_bytes()):
        for suffix in SUFFIXES:
            kind = f"{name}{suffix}"
            yield on_file(kind, f"in{suffix}", content)
            yield on_file(kind, f"in{suffix}", content, "skip")
            more = ("evaluate", "explain", "look", "translate", "train")[place % 5]
            yield on_file(kind, f"in{suffix}", content, more)


# Encodings: what is read must be what was written.


def codecs():
    """Every encoding that Python knows by a module of its own, and some that it does not."""
    known = {module.name for module in pkgutil.iter_modules(encodings.__path__)}
    return [
        *sorted(known - {"aliases"}),
        "",
        " ",
        "utf-99",
        "../utf_8",
        "UTF 8",
        "x" * 300,
        "\x1b[31m",
    ]


def in_encoding(codec, *, told, mark=b"", command="predict"):
    texts = [
        *TEXTS,
        "Zażółć gęślą jaźń",
        "Größe ² µ × ±",
        "привет",
        "日本語の文",
        "한국어",
        "🎬 evening",
    ]

    def run(bench):
        given = []
        for text in texts:
            try:
                if text.encode(codec).decode(codec) == text:
                    given.append(text)
            except (LookupError, ValueError, TypeError, AssertionError):
                continue
        given = given or TEXTS
        whole = table([("text", "label"), *((text, "good") for text in given)], end="\n")
        try:
            content = mark + whole.encode(codec)
        except (LookupError, ValueError, TypeError, AssertionError):
            content = whole.encode()
        (bench.folder / "in.csv").write_bytes(content)
        flags = ("--encoding", codec) if told else ()
        ran = obey(
            *(bench, "predict", bench.model, "in.csv", *flags, "-q", "--out", "out.jsonl"),
            out="out.jsonl",
        )
        if ran.code == 0 and content != whole.encode():
            lines = (bench.folder / "out.jsonl").read_text(encoding="utf-8").splitlines()
            read = [json.loads(line)["text"] for line in lines]
            assert read == given, f"read otherwise than written\n{ran}\n{read}"

    return run


def every_encoding(_):
    for codec in codecs():
        yield Case(f"told-{codec!r:.40}", in_encoding(codec, told=True))
    for codec in ("utf-8", "utf-8-sig", "utf-16", "utf-32"):
        yield Case(f"found-{codec}", in_encoding(codec, told=False))
    for codec, mark in (
        ("utf-16-le", b"\xff\xfe"),
        ("utf-16-be", b"\xfe\xff"),
        ("utf-8", b"\xef\xbb\xbf"),
    ):
        yield Case(f"marked-{codec}", in_encoding(codec, told=False, mark=mark))
    western = ["Preis: 20 €", "„Größe“ 5 m²", "±3 µm × 2", "café brûlé", "año, señor", "smørrebrød"]
    for place, text in enumerate(western):
        yield Case(f"excel-{place}", _western(text))
    for codec in (
        "utf-8",
        "utf-16",
        "cp1252",
        "hex",
        "rot13",
        "zlib",
        "undefined",
        "idna",
        "base64",
    ):
        for command in ("evaluate", "train", "explain", "look"):
            yield Case(f"{codec}-{command}", _encoding_of(codec, command))


def _western(text):
    def run(bench):
        content = table([("text", "label"), *((t, "good") for t in [*TEXTS, text])]).encode(
            "cp1252"
        )
        (bench.folder / "in.csv").write_bytes(content)
        ran = obey(
            *(bench, "predict", bench.model, "in.csv", "-q", "--out", "out.jsonl"), out="out.jsonl"
        )
        assert ran.code == 0, ran
        last = (bench.folder / "out.jsonl").read_text(encoding="utf-8").splitlines()[-1]
        assert json.loads(last)["text"] == text, last

    return run


def _encoding_of(codec, command):
    def run(bench):
        (bench.folder / "in.csv").write_text(PLAIN)
        given = {
            "evaluate": ("evaluate", bench.model, "in.csv", "-q"),
            "train": ("train", "in.csv", *SMALL, "--out", "out"),
            "explain": ("explain", bench.model, "in.csv", "-q", "--out", "out.json"),
            "look": ("look", bench.model, "in.csv", "-q"),
        }[command]
        obey(bench, *given, "--encoding", codec, out="out" if command == "train" else "out.json")

    return run


# Types: whatever a Parquet column or a JSON value can be, as text, as label, as company.


def arrow_values():
    """A column of two values of every type by name."""
    day, hour = datetime.date(2024, 1, 31), datetime.time(23, 59)
    moment = datetime.datetime(2024, 1, 31, 12)
    yield from {
        "null": pa.nulls(2),
        "bool": pa.array([True, None]),
        **{
            str(kind): pa.array([1, None], kind)
            for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint64())
        },
        "large uint64": pa.array([2**64 - 1, 0], pa.uint64()),
        **{str(kind): pa.array([1.5, None], kind) for kind in (pa.float32(), pa.float64())},
        "float16": pa.array([1.5, 2.0], pa.float16()),
        "no number": pa.array([float("nan"), float("inf")]),
        "decimal128": pa.array([decimal.Decimal("1.10"), None]),
        "decimal256": pa.array([decimal.Decimal(10) ** 60, None], pa.decimal256(70)),
        "string": pa.array(["a", None]),
        "large string": pa.array(["a", "b"], pa.large_string()),
        "string view": pa.array(["a", "b"], pa.string_view()),
        "escapes": pa.array([ESCAPES, "b"]),
        "binary": pa.array([b"\xff\0", None]),
        "large binary": pa.array([b"a", b"b"], pa.large_binary()),
        "fixed binary": pa.array([b"ab", b"cd"], pa.binary(2)),
        "date32": pa.array([day, None]),
        "date64": pa.array([day, None], pa.date64()),
        "late date": pa.array([2**31 - 1, -(2**31)], pa.date32()),
        "late date64": pa.array([86_400_000 * 10**8, 0], pa.int64()).view(pa.date64()),
        "time32": pa.array([hour, None], pa.time32("ms")),
        "time64": pa.array([hour, None], pa.time64("ns")),
        "odd time": pa.array([1, 86_399_999_999_999], pa.int64()).view(pa.time64("ns")),
        **{
            f"timestamp {unit}": pa.array([moment, None], pa.timestamp(unit))
            for unit in ("s", "ms", "us", "ns")
        },
        "zone": pa.array([moment, None], pa.timestamp("us", "Asia/Seoul")),
        "odd zone": pa.array([moment, None], pa.timestamp("us", "+05:30")),
        "wrong zone": pa.array([moment, None], pa.timestamp("us", "Nowhere/City")),
        "late moment": pa.array([2**62, -(2**62)], pa.int64()).view(pa.timestamp("s")),
        "odd moment": pa.array([1, None], pa.int64()).view(pa.timestamp("ns")),
        **{
            f"duration {unit}": pa.array([1, None], pa.duration(unit))
            for unit in ("s", "ms", "us", "ns")
        },
        "long duration": pa.array([2**62, 0], pa.duration("s")),
        "list": pa.array([["a", "b"], None]),
        "list of nulls": pa.array([[None], []], pa.list_(pa.null())),
        "large list": pa.array([[1], []], pa.large_list(pa.int8())),
        "fixed list": pa.array([[1, 2], [3, 4]], pa.list_(pa.int64(), 2)),
        "nested list": pa.array([[[["a"]]], None]),
        "list of durations": pa.array([[1], None], pa.list_(pa.duration("s"))),
        "struct": pa.array([{"a": 1, "b": None}, None]),
        "struct of times": pa.array([{"a": hour}, None]),
        "empty struct": pa.array([{}, None], pa.struct([])),
        "map": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64())),
        "dictionary": pa.array(["a", None]).dictionary_encode(),
        "dictionary of numbers": pa.array([7, 7]).dictionary_encode(),
    }.items()


PARQUET_OUTPUTS = (".jsonl", ".csv", ".tsv", ".parquet")


def every_arrow_type(_):
    for name, values in arrow_values():
        for suffix in PARQUET_OUTPUTS:
            yield Case(f"{name}-carried-{suffix}", _arrow("carried", values, suffix))
        for role in ("text", "label", "group", "time", "evidence"):
            yield Case(f"{name}-{role}", _arrow(role, values))
        yield Case(f"{name}-trained", _arrow("trained", values))


def _arrow(role, values, suffix=".jsonl"):
    def run(bench):
        columns = {"text": pa.array(TEXTS[:2]), "label": pa.array(["good", "bad"])}
        named = {"trained": "label", "group": "other", "time": "other", "evidence": "other"}
        columns[named.get(role, role)] = values
        try:
            pq.write_table(pa.table(columns), bench.folder / "in.parquet")
        except (pa.ArrowException, NotImplementedError):
            return  # no file can hold it
        out = f"out{suffix}"
        given, made = {
            "carried": (("predict", bench.model, "in.parquet", "-q", "--out", out), out),
            "text": (("predict", bench.model, "in.parquet", "-q", "--out", out), out),
            "label": (
                ("evaluate", bench.model, "in.parquet", "-q", "--out", "out.json"),
                "out.json",
            ),
            "trained": (("train", "in.parquet", *SMALL, "--validation", 0, "--out", "out"), "out"),
            "group": (
                ("train", "in.parquet", *SMALL, "--group-column", "other", "--out", "out"),
                "out",
            ),
            "time": (
                ("train", "in.parquet", *SMALL, "--time-column", "other", "--out", "out"),
                "out",
            ),
            "evidence": (
                (
                    "audit",
                    bench.model,
                    "in.parquet",
                    "-q",
                    "--no-needle",
                    "--limit",
                    1,
                    "--method",
                    "attention",
                    "--evidence-column",
                    "other",
                ),
                None,
            ),
        }[role]
        ran = obey(bench, *given, out=made)
        if role == "carried" and ran.code == 0:
            assert row_count(bench.folder / out) == 2, ran

    return run


def row_count(path):
    """How many rows a written file has; it must be one that others can read."""
    if path.suffix == ".parquet":
        return pq.read_table(path).num_rows
    if path.suffix == ".jsonl":
        return len([json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()])
    delimiter = "\t" if path.suffix == ".tsv" else ","
    with path.open(newline="", encoding="utf-8-sig") as file:
        return len(list(csv.DictReader(file, delimiter=delimiter)))


JSON_VALUES = {
    "null": "null",
    "true": "true",
    "zero": "0",
    "minus": "-1",
    "fraction": "1.5",
    "whole fraction": "3.0",
    "large": str(2**63 + 12345),
    "larger": "1" + "0" * 400,
    "digits": "1" * 5000,
    "huge fraction": "1e999",
    "nan": "NaN",
    "infinity": "Infinity",
    "empty text": '""',
    "space": '" "',
    "escapes": json.dumps(ESCAPES),
    "null character": '"p\\u0000"',
    "half a pair": '"\\ud800"',
    "other half": '"a \\udfff b"',
    "pair": '"\\ud83c\\udfac"',
    "emoji": '"🎬"',
    "html": '"</script><script>alert(1)</script>"',
    "formula": '"=1+1"',
    "long text": json.dumps("word " * 20_000),
    "empty list": "[]",
    "list": '["a", "b"]',
    "list twice": '["a", "a"]',
    "mixed list": '[1, "a", null, [2]]',
    "long list": json.dumps(list(range(2000))),
    "empty object": "{}",
    "object": '{"a": 1}',
    "object with no name": '{"": 1}',
    "deep list": "[" * 200 + "]" * 200,
    "deeper list": "[" * 100_000 + "]" * 100_000,
    "deep object": '{"a":' * 900 + "1" + "}" * 900,
    "object with escapes": json.dumps({ESCAPES: ESCAPES}),
}


def every_json_value(_):
    for name, value in JSON_VALUES.items():
        for suffix in PARQUET_OUTPUTS:
            yield Case(f"{name}-carried-{suffix}", _json("carried", value, suffix))
        for role in ("text", "label", "name", "trained", "group", "time"):
            yield Case(f"{name}-{role}", _json(role, value))


def _json(role, value, suffix=".jsonl"):
    def run(bench):
        lines = []
        for text in TEXTS:
            row = {"text": json.dumps(text), "label": '"good"'}
            if role == "name":
                row[value if value.startswith('"') else json.dumps(value[:5000])] = "1"
                lines.append(
                    "{"
                    + ", ".join(
                        f"{k if k[0] == chr(34) else json.dumps(k)}: {v}" for k, v in row.items()
                    )
                    + "}"
                )
                continue
            row[{"trained": "label"}.get(role, role)] = value
            lines.append("{" + ", ".join(f"{json.dumps(k)}: {v}" for k, v in row.items()) + "}")
        lines.append(
            '{"text": "a great film", "label": "bad", "carried": "x", "group": "g", "time": 3}'
        )
        (bench.folder / "in.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        out = f"out{suffix}"
        given, made = {
            "label": (("evaluate", bench.model, "in.jsonl", "-q", "--out", "out.html"), "out.html"),
            "trained": (("train", "in.jsonl", *SMALL, "--validation", 0, "--out", "out"), "out"),
            "group": (
                ("train", "in.jsonl", *SMALL, "--group-column", "group", "--out", "out"),
                "out",
            ),
            "time": (("train", "in.jsonl", *SMALL, "--time-column", "time", "--out", "out"), "out"),
        }.get(role, (("predict", bench.model, "in.jsonl", "-q", "--out", out), out))
        ran = obey(bench, *given, out=made)
        if role == "carried" and ran.code == 0:
            assert row_count(bench.folder / out) == len(lines), ran

    return run


# Labels: what was learnt is what is answered.


LABELS = {
    "null character": ["p", "p\0"],
    "numbers": [-1, 2**63 + 12345],
    "small numbers": [0, 1],
    "number and text": [1, "1"],
    "truths": [True, False],
    "spaces": ["a", "a "],
    "escapes": [ESCAPES, "b"],
    "html": ["<script>", "&amp;"],
    "one": ["a", "a"],
    "empty": ["", "a"],
    "long": ["l" * 3_000_000, "a"],
    "somewhat long": ["l" * 200, "a"],
    "halves": ["\ud800", "a"],
    "paths": ["../../etc", "/"],
    "lines": ["a\nb", "a\rb"],
    "direction": ["‮abc", "abc"],
    "composed": ["é", "e\u0301"],
    "wide": ["ａ", "a"],
    "many": [f"class {n}" for n in range(300)],
    "special": ["nan", "null"],
    "formulas": ["=1+1", "@x"],
    "commas": ["a,b", "a;b"],
    "quotes": ['a"b', "a'b"],
}


def every_label(_):
    for name, labels in LABELS.items():
        for suffix in (".jsonl", ".csv", ".parquet"):
            yield Case(f"{name}{suffix}", _labels(labels, suffix))


def _labels(labels, suffix):
    def run(bench):
        rows = [{"text": text, "label": label} for label in labels for text in TEXTS]
        if suffix == ".jsonl":
            (bench.folder / "in.jsonl").write_text(json_lines(rows))
        elif suffix == ".csv":
            content = table([("text", "label"), *((row["text"], row["label"]) for row in rows)])
            (bench.folder / "in.csv").write_bytes(content.encode("utf-8", "surrogatepass"))
        else:
            try:
                pq.write_table(pa.Table.from_pylist(rows), bench.folder / "in.parquet")
            except (pa.ArrowException, UnicodeError, OverflowError, TypeError):
                return  # no file can hold it
        ran = obey(
            bench, "train", f"in{suffix}", *SMALL, "--validation", 0, "--out", "out", out="out"
        )
        if ran.code:
            return
        obey(
            bench,
            "predict",
            "out",
            f"in{suffix}",
            "--text-column",
            "text",
            "-q",
            "--out",
            "p.jsonl",
            out="p.jsonl",
        )
        told = {
            _plain(json.loads(line)["predicted"])
            for line in (bench.folder / "p.jsonl").read_text("utf-8").splitlines()
        }
        assert told <= {_plain(label) for label in labels}, told
        classes = json.loads((bench.folder / "out" / "config.json").read_text())["classes"]
        distinct = {_plain(label) for label in labels}
        assert {_plain(name) for name in classes} == distinct, (classes, distinct)
        for more in (
            ("info", "out"),
            ("evaluate", "out", f"in{suffix}"),
            ("explain", "out", "--text", "a film"),
        ):
            obey(bench, *more)

    return run


def _plain(label):
    """A label as a spreadsheet would show it: spaces around it and its type are no matter."""
    return str(label).strip().casefold()


# Names, and things that are no files.


def file_names():
    yield from {
        "space": "a file.csv",
        "dash": "-q.csv",
        "dashes": "--help.csv",
        "newline": "a\nb.csv",
        "escapes": "\x1b[31mred\x1b[0m.csv",
        "bell": "\x07.csv",
        "no utf-8": os.fsdecode(b"caf\xe9.csv"),
        "emoji": "🎬.csv",
        "direction": "‮vsc.csv",
        "long": "x" * 250 + ".csv",
        "too long": "x" * 300 + ".csv",
        "quotes": "\"'`$(id).csv",
        "markup": "<b>&amp;.csv",
        "rich markup": "[red]a[/red].csv",
        "hidden": ".csv",
        "hidden with suffix": ".a.csv",
        "capitals": "A.CSV",
        "no suffix": "data",
        "other suffix": "data.xlsx",
        "two suffixes": "data.csv.csv",
        "gz alone": "data.gz",
        "unknown gz": "data.xyz.gz",
        "dot at the end": "data.csv.",
        "percent": "%s%n.csv",
        "braces": "{0}.csv",
        "tab": "a\tb.csv",
        "backslash": "a\\b.csv",
        "inside": "nowhere/a.csv",
        "part": "a.csv.part",
        "partial": "a.csv.partial",
    }.items()


def every_name(_):
    for name, file in file_names():
        for command in ("predict", "evaluate", "train", "explain", "look", "translate"):
            yield Case(f"{name}-{command}", _named(file, command, there=True))
            yield Case(f"no-{name}-{command}", _named(file, command, there=False))


def _named(file, command, *, there):
    def run(bench):
        if there:
            with contextlib.suppress(OSError):
                (bench.folder / file).write_text(PLAIN)
        given = f"./{file}" if file.startswith("-") else file
        ran = command_on(given, command)
        # A text that is no file is translated as it stands.
        return ran(bench)

    return run


def special_files(folder):
    """Things that are no files, by name; each stands at ``in.csv``, ``in.parquet`` and so on."""

    def fifo(path):
        os.mkfifo(path)

    def listening(path):
        with socket.socket(socket.AF_UNIX) as made:
            here = os.getcwd()
            os.chdir(path.parent)
            made.bind(path.name)
            os.chdir(here)

    def unreadable(path):
        path.write_text(PLAIN)
        path.chmod(0)

    return {
        "pipe": fifo,
        "socket": listening,
        "folder": lambda path: path.mkdir(),
        "dangling": lambda path: path.symlink_to("nowhere"),
        "loop": lambda path: path.symlink_to(path.name),
        "null": lambda path: path.symlink_to("/dev/null"),
        "full": lambda path: path.symlink_to("/dev/full"),
        "link to folder": lambda path: path.symlink_to("."),
        "unreadable": unreadable,
        "memory": lambda path: path.symlink_to("/proc/self/mem"),
        "nothing": lambda path: None,
    }


def every_special_file(_):
    for name in special_files(None):
        for suffix in (".csv", ".jsonl", ".txt", ".parquet", ".csv.gz"):
            if name == "pipe" and suffix != ".parquet":
                continue  # a pipe may be read, and waits for whoever writes
            for command in ("predict", "evaluate", "train", "explain", "translate"):
                yield Case(f"{name}{suffix}-{command}", _special(name, suffix, command))


def _special(name, suffix, command):
    def run(bench):
        special_files(None)[name](bench.folder / f"in{suffix}")
        return command_on(f"in{suffix}", command)(bench)

    return run


def folders_of_texts(_):
    """Folders in which not all is as it should be; what cannot be read is said, not waited for."""
    for name in special_files(None):
        for place in ("in/a/x.txt", "in/b/x.txt", "in/x.txt", "in/c"):
            for command in ("predict", "evaluate", "train"):
                yield Case(
                    f"{name}-at-{place.replace('/', ':')}-{command}",
                    _in_folder(name, place, command),
                )
    for name, file in file_names():
        if "/" not in file and not file.startswith("."):  # what is hidden is passed over
            yield Case(f"named-{name}", _in_folder(None, f"in/a/{file}.txt", "predict"))
    for name, content in odd_bytes():
        yield Case(f"holds-{name}", _holding(content))


def _in_folder(name, place, command):
    def run(bench):
        for label in ("a", "b"):
            (bench.folder / "in" / label).mkdir(parents=True)
            for number, text in enumerate(TEXTS):
                (bench.folder / "in" / label / f"{number}.txt").write_text(text)
        try:
            if name is None:
                (bench.folder / place).write_text(TEXTS[0])
            else:
                special_files(None)[name](bench.folder / place)
        except OSError:
            return
        ran = command_on("in", command)(bench)
        if command == "predict" and ran.code == 0:
            count = row_count(bench.folder / "out.jsonl")
            more = 1 if name in (None, "null") and place.endswith(".txt") else 0
            assert count >= 2 * len(TEXTS) + (more if name is None else 0), (count, str(ran))

    return run


def _holding(content):
    def run(bench):
        (bench.folder / "in").mkdir()
        (bench.folder / "in" / "a.txt").write_text("A great film.")
        (bench.folder / "in" / "b.txt").write_bytes(content)
        return command_on("in", "predict")(bench)

    return run


FAMILIES = {
    "bytes": bytes_in_every_format,
    "encodings": every_encoding,
    "arrow": every_arrow_type,
    "json": every_json_value,
    "labels": every_label,
    "names": every_name,
    "special": every_special_file,
    "texts": folders_of_texts,
}
