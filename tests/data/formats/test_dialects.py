"""CSV as programs in many places write it: read right or refused by name, and given back alike."""

import codecs
import contextlib
import warnings
from dataclasses import replace

import pytest

from regard.data.columns import Columns
from regard.data.formats.lines import Dialect
from regard.data.readers import read_documents
from regard.data.writers import RowWriter
from regard.errors import DataError

GERMAN = [("1", "schön; für 5 €", "gut"), ("2", 'er sagte "nein"', "schlecht")]
PLAIN = [("1", "good, very", "pos"), ("2", "two\nlines", "neg")]


def export(*lines, end="\r\n", encoding="utf-8", mark=b""):
    return mark + (end.join(lines) + end).encode(encoding)


def excel(encoding, *rows, separator=";"):
    """What Excel writes in a country: its list separator, its code page, quotes where needed."""
    lines = [
        separator.join(
            '"' + cell.replace('"', '""') + '"'
            if any(mark in cell for mark in (separator, '"', "\n"))
            else cell
            for cell in row
        )
        for row in (("id", "text", "label"), *rows)
    ]
    return export(*lines, encoding=encoding), list(rows)


# The bytes, what they mean, and whether they are given back as they are.
READ = {
    "Excel in English, CSV UTF-8": (
        export("id,text,label", '1,"good, very",pos', '2,"two\nlines",neg', mark=codecs.BOM_UTF8),
        PLAIN,
    ),
    "Excel in German, CSV": (
        export(
            *("id;text;label", '1;"schön; für 5 €";gut', '2;"er sagte ""nein""";schlecht'),
            encoding="cp1252",
        ),
        GERMAN,
    ),
    "Excel in German, CSV UTF-8": (
        export(
            *("id;text;label", '1;"schön; für 5 €";gut', '2;"er sagte ""nein""";schlecht'),
            mark=codecs.BOM_UTF8,
        ),
        GERMAN,
    ),
    "Excel in Polish, CSV": (
        export("id;text;label", "1;obsługa była świetna;dobra", encoding="cp1250"),
        [("1", "obsługa była świetna", "dobra")],
    ),
    "Excel in Japanese, CSV": (
        export("id,text,label", "1,料理はとても美味しかったです。,良い", encoding="cp932"),
        [("1", "料理はとても美味しかったです。", "良い")],
    ),
    "Excel in French, CSV": excel(
        "cp1252",
        ("1", "Le dîner était très bon ; l'accueil, chaleureux.", "positif"),
        ("2", "Déçus : 45 € pour une entrée froide, c'est trop.", "négatif"),
    ),
    "Excel in Spanish, CSV": excel(
        "cp1252",
        ("1", "¡Qué habitación tan cómoda! Volveremos en otoño.", "bueno"),
        ("2", "El baño estaba sucio; nadie respondió.", "malo"),
    ),
    "Excel in Russian, CSV": excel(
        "cp1251",
        ("1", "Обслуживание было отличным; мы вернёмся.", "хорошо"),
        ("2", "Ужин принесли холодным, и никто не извинился.", "плохо"),
    ),
    "Excel in Greek, CSV": excel(
        "cp1253",
        ("1", "Το φαγητό ήταν υπέροχο και η εξυπηρέτηση γρήγορη.", "καλό"),
        ("2", "Το δωμάτιο ήταν μικρό; πολύ ακριβό.", "κακό"),
    ),
    "Excel in Turkish, CSV": excel(
        "cp1254",
        ("1", "Yemekler çok güzeldi, kahvaltı ise şahaneydi.", "iyi"),
        ("2", "Oda küçüktü; gürültüden uyuyamadık.", "kötü"),
    ),
    "Excel in Chinese, CSV": excel(
        "gb18030",
        ("1", "房间很干净,服务员非常热情。", "好评"),
        ("2", "早餐太冷了,我们很失望。", "差评"),
        separator=",",
    ),
    "Excel in Korean, CSV": excel(
        "cp949",
        ("1", "음식이 정말 맛있었고 직원들도 친절했습니다.", "좋음"),
        ("2", "방이 너무 작고 시끄러웠습니다.", "나쁨"),
        separator=",",
    ),
    "Google Sheets, in any language": excel(
        "utf-8",
        ("1", "Fantastique, 素晴らしい, отлично", "pos"),
        ("2", "two\nlines", "neg"),
        separator=",",
    ),
    "Oracle SQL Developer, numbers bare and texts in quotes": (
        export('"id","text","label"', '1,"good, very","pos"', '2,"two\nlines","neg"', end="\n"),
        PLAIN,
    ),
    "SAP, a tab between columns and Latin letters": (
        export("id\ttext\tlabel", "1\tgrößer, schöner\tgut", encoding="cp1252"),
        [("1", "größer, schöner", "gut")],
    ),
    "Excel, Unicode text": (
        export(
            *("id\ttext\tlabel", "1\tgood, very\tpos", '2\t"two\nlines"\tneg'),
            encoding="utf-16-le",
            mark=codecs.BOM_UTF16_LE,
        ),
        PLAIN,
    ),
    "Excel with its separator line": (
        export("sep=;", "id;text;label", "1;good, very;pos", '2;"two\nlines";neg'),
        PLAIN,
    ),
    "LibreOffice, text cells in quotes": (
        export('"id","text","label"', '1,"good, very","pos"', '2,"two\nlines","neg"', end="\n"),
        PLAIN,
    ),
    "pandas": (
        export("id,text,label", '1,"good, very",pos', '2,"two\nlines",neg', end="\n"),
        PLAIN,
    ),
    "R, write.csv without row names": (
        export('"id","text","label"', '1,"good, very","pos"', '2,"two\nlines","neg"', end="\n"),
        PLAIN,
    ),
    "R, write.csv2": (
        export('"id";"text";"label"', '1,5;"good, very";"pos"', end="\n"),
        [("1,5", "good, very", "pos")],
    ),
    "Oracle, everything in quotes": (
        export('"id","text","label"', '"1","good, very","pos"', '"2","two\nlines","neg"'),
        PLAIN,
    ),
    "MySQL and others with pipes": (
        export("id|text|label", "1|good, very|pos", '2|"two\nlines"|neg', end="\n"),
        PLAIN,
    ),
    "old Macintosh": (
        export("id;text;label", "1;good, very;pos", end="\r"),
        [("1", "good, very", "pos")],
    ),
}
# What cannot be given back to the letter, since it is more than rows and columns.
TIDIED = {
    "Google Sheets, no line end at the end": (
        b'id,text,label\r\n1,"good, very",pos\r\n2,"two\nlines",neg',
        PLAIN,
    ),
    "SAP, separators at the end of lines": (
        b"id;text;label;\r\n1;good, very;pos;\r\n",
        [("1", "good, very", "pos")],
    ),
    "blank lines above the header": (
        b"\r\n\r\nid,text,label\r\n1,fine,pos\r\n",
        [("1", "fine", "pos")],
    ),
    "spaces behind separators": (
        b'id, text, label\n1, "good, very", "pos"\n2, "say ""no""", "neg"\n',
        [("1", "good, very", "pos"), ("2", 'say "no"', "neg")],
    ),
    "two files with marks put together": (
        codecs.BOM_UTF8 * 2 + b"id,text,label\n1,fine,pos\n",
        [("1", "fine", "pos")],
    ),
}
REFUSED = {
    "MySQL, backslashes before quotes": (
        b'id,text,label\n1,"he said \\"no\\" twice",neg\n',
        r":2: .* stands behind a closing quote; write a quote inside quotes twice",
    ),
    "backslashes before separators": (
        b"id,text,label\n1,good\\, very,pos\n",
        ":2: 4 fields where the header has 3",
    ),
    "a null as databases write it": (
        b"id\ttext\tlabel\n1\tfine\t\\N\n",
        ":2: the label is missing",
    ),
    "no header": (b"1,good,pos\n2,bad,neg\n", "has no column 'text'; it has 1, good, pos"),
    "a comment above the header": (
        b"# exported yesterday\nid,text,label\n1,good,pos\n",
        "has no column 'text'; it has # exported yesterday",
    ),
    "SAP, a list with lines": (
        b"-----------------\n|id|text|label|\n-----------------\n|1|good|pos|\n",
        "has no column 'text'; it has -----------------",
    ),
    "single quotes": (
        b"'id','text','label'\n1,'a, b','pos'\n",
        "has no column 'text'; it has 'id'",
    ),
    "another separator": (b"id^text^label\n1^good^pos\n", r"has no column 'text'; it has id\^text"),
}


def read(tmp_path, content):
    path = tmp_path / "in.csv"
    path.write_bytes(content)
    reader = read_documents(path, Columns(label=None))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(reader), reader


@pytest.mark.parametrize("name", READ | TIDIED)
def test_it_is_read_right(tmp_path, name):
    content, expected = (READ | TIDIED)[name]
    documents, reader = read(tmp_path, content)
    assert [tuple(document.row("text").values()) for document in documents] == expected
    assert all(list(document.row("text")) == ["id", "text", "label"] for document in documents)
    assert not reader.skipped


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_by_name_and_never_read_wrong(tmp_path, name):
    content, message = REFUSED[name]
    path = tmp_path / "in.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        list(read_documents(path))


def write(path, documents, dialect, **options):
    with RowWriter(str(path), dialect=lambda: dialect, **options) as writer:
        for document in documents:
            writer.write([document.row("text")])


@pytest.mark.parametrize("name", READ)
def test_it_is_given_back_to_the_letter(tmp_path, name):
    """Separator, quotes, line ends, encoding, mark and the order of columns."""
    documents, reader = read(tmp_path, READ[name][0])
    write(tmp_path / "out.csv", documents, reader.dialect)
    assert (tmp_path / "out.csv").read_bytes() == READ[name][0]


@pytest.mark.parametrize("name", READ)
def test_a_killed_run_is_gone_on_with_in_its_dialect(tmp_path, name):
    documents, reader = read(tmp_path, READ[name][0])
    task = {"data": name}
    with (
        contextlib.suppress(OSError),
        RowWriter(str(tmp_path / "out.csv"), task=task, dialect=lambda: reader.dialect) as writer,
    ):
        writer.write([documents[0].row("text")])
        raise OSError
    write(tmp_path / "out.csv", documents[1:], reader.dialect, task=task, resume=True)
    assert (tmp_path / "out.csv").read_bytes() == READ[name][0]


def test_the_suffix_decides_where_the_kinds_differ(tmp_path):
    documents, reader = read(tmp_path, export("id;text", "1;fine", mark=codecs.BOM_UTF8))
    write(tmp_path / "out.tsv", documents, reader.dialect)
    assert (tmp_path / "out.tsv").read_bytes() == codecs.BOM_UTF8 + b"id\ttext\r\n1\tfine\r\n"
    path = tmp_path / "in.tsv"
    path.write_bytes(b"id\ttext\n1\tfine\n")
    reader = read_documents(path, Columns(label=None))
    write(tmp_path / "out.csv", list(reader), reader.dialect)
    assert (tmp_path / "out.csv").read_bytes() == b"id,text\n1,fine\n"


def test_what_the_encoding_cannot_hold_is_an_error_and_not_altered(tmp_path):
    row = {"text": "fine", "predicted": "доброе"}
    with (
        pytest.raises(DataError, match=r"'д', which cp1252, .*, cannot hold; write \.jsonl"),
        RowWriter(str(tmp_path / "out.csv"), dialect=lambda: Dialect(encoding="cp1252")) as writer,
    ):
        writer.write([row])


FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\tx", "\rx", "＝1+1"]
HARMLESS = ["-5", "+3.5", "-1,5e3", "a=b", " =1", "", "'quoted", "0"]


def test_formulas_are_made_text_where_that_is_asked(tmp_path):
    """Numbers stay numbers; the rest is what it was."""
    cells = FORMULAS + HARMLESS
    for name, protects in (("plain.csv", False), ("safe.csv", True)):
        with RowWriter(
            str(tmp_path / name), dialect=lambda p=protects: replace(Dialect(), protects=p)
        ) as writer:
            writer.write([{"text": cell, "=id": 1} for cell in cells])
    plain = list(read_documents(tmp_path / "plain.csv", Columns(label=None)))
    safe = list(read_documents(tmp_path / "safe.csv", Columns(label=None)))
    assert [document.text for document in plain] == cells
    assert [document.text for document in safe] == [f"'{cell}" for cell in FORMULAS] + HARMLESS
    assert list(plain[0].fields) == ["=id"] and list(safe[0].fields) == ["'=id"]
