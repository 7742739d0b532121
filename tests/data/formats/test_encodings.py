"""Files that do not say how they are encoded: Excel's exports in many languages, read right."""

import csv
import io
import warnings

import pytest

from regard.data.columns import Columns
from regard.data.formats.encodings import guess_encoding, require_encoding, wide_encoding
from regard.data.readers import read_documents
from regard.errors import ConfigError, DataError

# The language's own words for text and label, some rows, and the code page of Excel there.
EXPORTS = {
    "German": (
        "cp1252",
        ("Beschreibung", "Größe"),
        [("„Schön“, sagte er – für 30 €.", "groß"), ("5 m² und 20 µm ± 3, 4×4", "klein")],
    ),
    "French": (
        "cp1252",
        ("Résumé", "Catégorie"),
        [("L’hôtel était très agréable ; le cœur de la ville.", "positif"), ("Déçu…", "négatif")],
    ),
    "Spanish": (
        "cp1252",
        ("Descripción", "Categoría"),
        [("¿Cómo está? ¡Qué lástima!", "sí"), ("El año que viene volveré.", "no")],
    ),
    "Polish": (
        "cp1250",
        ("Treść", "Ocena"),
        [("Jedzenie było świetne, ale obsługa okropna.", "zła"), ("Żółta łódź.", "dobra")],
    ),
    "Czech": (
        "cp1250",
        ("Popis", "Hodnocení"),
        [("Příliš žluťoučký kůň úpěl ďábelské ódy.", "špatné"), ("Jídlo bylo výborné.", "dobré")],
    ),
    "Russian": (
        "cp1251",
        ("Отзыв", "Оценка"),
        [("Еда была отличная, но обслуживание ужасное.", "плохо"), ("Придём ещё!", "хорошо")],
    ),
    "Greek": (
        "cp1253",
        ("Κείμενο", "Ετικέτα"),
        [("Το φαγητό ήταν εξαιρετικό.", "καλό"), ("Δεν θα ξαναπάμε ποτέ.", "κακό")],
    ),
    "Turkish": (
        "cp1254",
        ("Açıklama", "Değerlendirme"),
        [("Yemekler çok güzeldi ama servis yavaştı.", "kötü"), ("İyi günler, teşekkürler.", "iyi")],
    ),
    "Japanese": (
        "cp932",
        ("本文", "評価"),
        [("料理はとても美味しかったです。", "良い"), ("サービスはひどかったです。", "悪い")],
    ),
    "Korean": (
        "cp949",
        ("내용", "평가"),
        [("음식은 정말 맛있었지만 서비스가 느렸어요.", "나쁨"), ("다시 갈 거예요.", "좋음")],
    ),
    "Chinese": (
        "gb18030",
        ("内容", "评价"),
        [("菜很好吃，但是服务太差了。", "差"), ("房间也很干净，以后还会再来。", "好")],
    ),
    "Chinese in Taiwan": (
        "cp950",
        ("內容", "評價"),
        [("菜很好吃，但是服務太差了。", "差"), ("房間也很乾淨，以後還會再來。", "好")],
    ),
    "Hungarian": (
        "cp1250",
        ("Leírás", "Értékelés"),
        [("Az étel kitűnő volt, de a kiszolgálás lassú.", "rossz"), ("Őszintén köszönöm.", "jó")],
    ),
    "Hebrew": ("cp1255", ("טקסט", "תווית"), [("האוכל היה מצוין", "טוב"), ("השירות נורא", "רע")]),
    "Arabic": ("cp1256", ("نص", "تصنيف"), [("كان الطعام ممتازا", "جيد"), ("الخدمة سيئة", "سيئ")]),
    "Thai": ("cp874", ("ข้อความ", "ป้าย"), [("อาหารอร่อยมาก", "ดี"), ("บริการแย่มาก", "แย่")]),
}


def excel(language, delimiter):
    """The sheet as Excel writes it: Windows line ends, quotes where they are needed."""
    _, header, rows = EXPORTS[language]
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows([header, *rows])
    return text.getvalue()


def read(tmp_path, language, content):
    path = tmp_path / "export.csv"
    path.write_bytes(content)
    _, (text, label), _ = EXPORTS[language]
    reader = read_documents(path, Columns(text=text, label=label))
    return [(document.text, document.label) for document in reader], reader.counts.encoding


@pytest.mark.parametrize("language", EXPORTS)
def test_excels_csv_in_utf_8_is_read_without_a_word(tmp_path, language):
    found, encoding = read(tmp_path, language, excel(language, ";").encode("utf-8-sig"))
    assert found == EXPORTS[language][2] and encoding == "utf-8"


@pytest.mark.parametrize("language", EXPORTS)
def test_excels_unicode_text_is_read_without_a_word(tmp_path, language):
    """UTF-16 with its mark, and tabs though the name may end in .csv."""
    found, encoding = read(tmp_path, language, excel(language, "\t").encode("utf-16"))
    assert found == EXPORTS[language][2] and encoding == "utf-16"


@pytest.mark.parametrize("mark", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("language", EXPORTS)
def test_utf_16_is_known_without_its_mark(tmp_path, language, mark):
    with pytest.warns(UserWarning, match=f"read as {mark}"):
        found, encoding = read(tmp_path, language, excel(language, "\t").encode(mark))
    assert found == EXPORTS[language][2] and encoding == mark


@pytest.mark.parametrize("language", EXPORTS)
def test_excels_plain_csv_is_read_with_a_warning_that_names_the_encoding(tmp_path, language):
    """Plain CSV is in the code page of the country; the semicolon in most of Europe."""
    expected = EXPORTS[language][0]
    content = excel(language, ";").encode(expected)
    with pytest.warns(UserWarning, match=rf"export\.csv:\d: not UTF-8; read as {expected}, as "):
        found, encoding = read(tmp_path, language, content)
    assert found == EXPORTS[language][2] and encoding == expected


def test_how_a_file_was_decoded_is_said_once_however_often_it_is_read(tmp_path):
    """A training reads its file again for TF-IDF; the second warning told nothing new."""
    (tmp_path / "export.csv").write_bytes("text;label\nSchön;gut\nSüß;gut\n".encode("cp1252"))
    reader = read_documents(tmp_path / "export.csv")
    with pytest.warns(UserWarning, match="read as cp1252") as told:
        assert [len(list(reader)) for _ in range(3)] == [2, 2, 2]
    assert len(told) == 1


@pytest.mark.parametrize("language", EXPORTS)
def test_no_wrong_guess_is_silent_however_little_there_is(language):
    """Each word alone: read right, not guessed at all, or the right one is named as a rival."""
    encoding, _, rows = EXPORTS[language]
    for word in " ".join(text for text, _ in rows).split():
        raw = word.encode(encoding)
        guess = None if raw.isascii() else guess_encoding(raw)
        if guess is None or raw.decode(guess.encoding, "replace") == word:
            continue
        assert guess.rivals, f"{word} in {encoding} was taken for {guess.encoding}"


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("iso8859_2", "Jedzenie było świetne, ale obsługa okropna. Żółta łódź płynęła."),
        ("koi8_r", "Еда была отличная, но обслуживание ужасное."),
        ("cp866", "Еда была отличная, но обслуживание ужасное."),
        ("mac_roman", "L’hôtel était très agréable, le petit déjeuner à volonté."),
        ("cp850", "Das Gerät läuft: schön, daß es für Übungen reicht."),
    ],
)
def test_what_older_programs_write_is_known_too(encoding, text):
    assert guess_encoding(text.encode(encoding)).encoding == encoding


def test_a_doubtful_guess_names_what_else_it_may_be(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("text\nNão\n".encode("cp1252"))
    with pytest.warns(UserWarning, match="read as cp1252, .* but may be cp1250.*--encoding"):
        list(read_documents(path, Columns(label=None)))


@pytest.mark.parametrize("sign", "€£§°²µ×±½«»„“…–")
def test_a_sign_alone_is_read_as_western(sign):
    assert guess_encoding(f"5 {sign} \n".encode("cp1252")).encoding == "cp1252"


@pytest.mark.parametrize("bytes_", [b"\xff" * 4, b"\xff" * 50, b"\xfe\xff" * 9, b"\xff\xfe\xff"])
def test_the_same_bytes_again_and_again_are_noise(bytes_):
    assert guess_encoding(bytes_) is None


def test_bad_lines_of_a_guessed_file_are_bad_rows(tmp_path):
    """A byte that cp1252 does not know costs its row; a line of UTF-8 among the others none."""
    path = tmp_path / "a.txt"
    lines = ["schön", "Größe", "für", "läuft", "süß"]
    legacy = "\n".join(lines).encode("cp1252")
    path.write_bytes(legacy + b"\nno \x9d sign\n" + "grün\n".encode())
    with pytest.warns(UserWarning, match="cp1252"):
        reader = read_documents(path, Columns(label=None), on_bad_row="skip")
        texts = [document.text for document in reader]
    assert texts == [*lines, "grün"]
    assert [str(row) for row in reader.skipped] == [
        f"{path}:6: not valid cp1252: byte 0x9d at position 4 of the line; if the whole file has "
        "another encoding, pass it (--encoding cp1252, cp949, ...)"
    ]


def test_a_given_encoding_is_used_whatever_the_bytes_look_like(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("Größe und Länge\n".encode("cp1252"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (document,) = read_documents(path, Columns(label=None, encoding="cp1251"))
    assert document.text == "GrцЯe und Lдnge"


def test_plain_files_with_nuls_are_no_utf_16():
    assert wide_encoding(b"a\0b,c\nd\0\0e\n" * 9) is None
    assert wide_encoding(b"\0" * 100) is None
    assert wide_encoding(b"a,b\n" + b"\0cd,e\n" * 9) is None


@pytest.mark.parametrize(
    "name",
    ["rot13", "hex", "zlib", "bz2", "base64", "quopri", "uu", "punycode", "idna", "undefined"],
)
def test_what_does_not_encode_texts_is_refused(name):
    with pytest.raises(ConfigError, match=f"encoding '{name}' is none of texts; use one such as"):
        Columns(encoding=name)


@pytest.mark.parametrize("name", ["klingon", "", "utf-8\0", "ü" * 50, "../x"])
def test_an_unknown_encoding_is_refused(name):
    with pytest.raises(ConfigError, match="is unknown; such as utf-8"):
        require_encoding(name)


@pytest.mark.parametrize("name", ["utf-8", "UTF8", "latin-1", "utf-16", "utf-7", "cp037", "mbcs"])
def test_encodings_of_texts_are_taken(name):
    if name == "mbcs":
        pytest.skip("only Windows has it")
    require_encoding(name)


def test_utf_7_that_is_broken_is_a_bad_row(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"good\n+//// bad\n")
    with pytest.raises(DataError, match=r"a\.txt:2: not valid utf-7"):
        list(read_documents(path, Columns(label=None, encoding="utf-7")))


@pytest.mark.parametrize("encoding", ["cp037", "cp500", "cp1140", "iso2022_kr", "unicode_escape"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_told_by_their_characters_not_by_bytes(tmp_path, encoding, end):
    """In EBCDIC the byte of a line end is a letter; elsewhere one sign at the top is for all."""
    path = tmp_path / "a.txt"
    texts = ["eins 1%", "zwei", "drei"]
    if encoding == "iso2022_kr":
        texts[1] = "한국어"
    path.write_bytes("".join(text + end for text in texts).encode(encoding))
    found = read_documents(path, Columns(label=None, encoding=encoding))
    assert [document.text for document in found] == texts


def test_utf_16_without_its_mark_is_said(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"plain text\n")
    with pytest.raises(DataError, match=r"a\.txt:1: cannot be read as utf-16: .*BOM"):
        list(read_documents(path, Columns(label=None, encoding="utf-16")))


def test_a_file_that_fails_while_it_is_read_is_named(tmp_path):
    path = tmp_path / "a.txt"
    path.symlink_to("/proc/self/mem")  # it can be opened, and has nothing at its beginning
    with pytest.raises(DataError, match=r"cannot read .*a\.txt: "):
        list(read_documents(path, Columns(label=None)))
