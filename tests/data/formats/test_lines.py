"""Lines of text files: encodings, line ends, compression, standard input."""

import gzip
import io
import warnings

import pytest

from regard.data.formats.lines import Lines
from regard.errors import DataError


def write(tmp_path, data, name="a.csv"):
    path = tmp_path / name
    path.write_bytes(data)
    return path


def lines(path, encoding=None):
    found = Lines(path, encoding)
    return list(found), found.encoding


def decoded(path, encoding=None):
    return [text for text, problem in lines(path, encoding)[0] if problem is None]


@pytest.mark.parametrize(
    ("mark", "encoding", "name"),
    [
        (b"", "utf-8", "utf-8"),
        (b"\xef\xbb\xbf", "utf-8", "utf-8"),
        (b"\xff\xfe", "utf-16-le", "utf-16"),
        (b"\xfe\xff", "utf-16-be", "utf-16"),
    ],
)
def test_byte_order_marks_decide(tmp_path, mark, encoding, name):
    path = write(tmp_path, mark + "text\r\nschön 좋다 \U0001f600\r\n".encode(encoding))
    assert lines(path) == ([("text\r\n", None), ("schön 좋다 \U0001f600\r\n", None)], name)


def test_a_legacy_western_file_is_read_with_a_warning(tmp_path):
    text = "text\nplain\nMüller’s café – schön\n5 € naïve\n"
    path = write(tmp_path, text.encode("cp1252"))
    with pytest.warns(UserWarning, match=r"a\.csv:3: not UTF-8; read as cp1252.*--encoding"):
        found, encoding = lines(path)
    assert "".join(line for line, _ in found) == text
    assert encoding == "cp1252"


def test_the_warning_comes_once(tmp_path):
    path = write(tmp_path, "é\n".encode("cp1252") * 50)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert decoded(path) == ["é\n"] * 50
    assert len(caught) == 1


@pytest.mark.parametrize(
    "wrong", [b"\xff\xfe bad", b"a\xc3(b", b"\x80bc", b"\xed\xa0\x80", b"caf\xc3", b"\xe2\x80 x"]
)
def test_bytes_that_are_no_text_are_a_bad_line_among_good_ones(tmp_path, wrong):
    path = write(tmp_path, b"one\n" + wrong + b"\nthree\n")
    found, encoding = lines(path)
    assert [problem is None for _, problem in found] == [True, False, True]
    assert "not valid utf-8: byte 0x" in found[1][1] and "--encoding" in found[1][1]
    assert encoding == "utf-8"


def test_a_picture_is_no_text(tmp_path):
    path = write(tmp_path, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x04\x4c\xd8\n")
    with pytest.raises(DataError, match=r"a\.csv is no text: it holds zero bytes; .*--encoding"):
        lines(path)


def test_once_a_file_has_shown_to_be_utf_8_no_line_is_guessed(tmp_path):
    path = write(tmp_path, "schön\n".encode() + "schön\n".encode("cp1252"))
    assert [problem is None for _, problem in lines(path)[0]] == [True, False]


@pytest.mark.parametrize("encoding", ["cp949", "gb18030", "shift_jis", "utf-16", "utf-32"])
def test_a_given_encoding_is_used(tmp_path, encoding):
    text = "一二三\n日本\n"
    assert "".join(decoded(write(tmp_path, text.encode(encoding)), encoding)) == text


def test_a_given_utf_8_is_never_guessed_otherwise(tmp_path):
    path = write(tmp_path, "schön\n".encode("cp1252"))
    assert lines(path, "utf-8")[0][0][1] is not None


def test_half_a_character_at_the_end_of_utf_16_is_an_error_with_its_line(tmp_path):
    path = write(tmp_path, "\ufeffa\nb\n".encode("utf-16-le") + b"\x41")
    with pytest.raises(DataError, match=r"a\.csv:\d+: cannot be read as utf-16"):
        lines(path)


def test_old_macintosh_line_ends_end_lines(tmp_path):
    assert decoded(write(tmp_path, b"\xef\xbb\xbftext,label\ra,pos\r")) == [
        "text,label\r",
        "a,pos\r",
    ]


def test_other_characters_that_end_lines_elsewhere_do_not_here(tmp_path):
    text = "a\x0bb\x0c\x1c\x85c\u2028d\re\0f\n"
    assert decoded(write(tmp_path, text.encode())) == [text]


@pytest.mark.parametrize(("encoding", "start"), [("ascii", b""), ("utf-16-le", b"\xff\xfe")])
def test_an_endless_line_is_an_error_with_its_place(tmp_path, monkeypatch, encoding, start):
    monkeypatch.setattr("regard.data.formats.lines.LONGEST_ROW", 1 << 20)
    path = write(tmp_path, start + "a\n".encode(encoding) + "x".encode(encoding) * (1 << 21))
    with pytest.raises(DataError, match=r"a\.csv:2: the line is longer than 1 MiB"):
        lines(path)


def test_a_line_of_megabytes_is_one_line(tmp_path):
    assert decoded(write(tmp_path, b"x" * 3_000_000)) == ["x" * 3_000_000]


def test_compressed_files_are_read_and_damaged_ones_are_an_error(tmp_path):
    packed = gzip.compress(b"".join(b"%d\n" % number for number in range(10_000)))
    assert decoded(write(tmp_path, packed))[-1] == "9999\n"
    with pytest.raises(DataError, match=r"a\.csv is damaged after line \d+"):
        decoded(write(tmp_path, packed[:-20]))


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(DataError, match=r"cannot read .*nothing\.csv: No such file"):
        decoded(tmp_path / "nothing.csv")


def test_lines_can_be_read_again(tmp_path):
    found = Lines(write(tmp_path, b"a\nb\n"))
    assert list(found) == list(found)


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input_is_read_and_left_open(monkeypatch, packed):
    data = gzip.compress(b"a\nb\n") if packed else b"a\nb\n"
    stream = io.TextIOWrapper(io.BytesIO(data))
    monkeypatch.setattr("sys.stdin", stream)
    found = Lines("-")
    assert [text for text, _ in found] == ["a\n", "b\n"]
    assert found.name == "standard input"
    assert not stream.buffer.closed


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_how_much_of_a_file_was_read_is_known(tmp_path, pack):
    found = Lines(write(tmp_path, pack(b"".join(b"%d\n" % n for n in range(300_000)))))
    assert found.share_read() is None
    shares = [found.share_read() for _ in found]
    assert shares == sorted(shares) and 0 < shares[0] < 0.7 and shares[-1] == 1.0
    assert found.share_read() == 1.0


def test_how_much_of_a_pipe_was_read_is_not_known(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"one\ntwo\n")))
    found = Lines("-")
    assert [found.share_read() for _ in found] == [None, None]
