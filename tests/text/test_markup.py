from __future__ import annotations

import pytest

from regard.text.characters import kinds_of
from regard.text.markup import mask_markup
from regard.text.tokenize import tokenize


def masked(text: str) -> str:
    kinds = kinds_of(text)
    mask_markup(text, kinds)
    return kinds.tobytes().decode()


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("a<br />b", "a\f\f\f\f\f\fa"),
        ("a<BR>b</P>", "a\f\f\f\fa\f\f\f\f"),
        ("<b>a</b>", "   a    "),
        ('<a href="http://x.org/?a=1&amp;b">c</a>', " " * 34 + "a    "),
        ("<!-- no --><!DOCTYPE html>a", " " * 26 + "a"),
    ],
)
def test_a_tag_is_a_space_and_the_tag_of_a_block_is_a_break(text, kinds):
    assert masked(text) == kinds


@pytest.mark.parametrize(
    "text",
    [
        "a < b",
        "a <b and c> d",
        "x<y, z>w",
        "<3 <3",
        "<sigh> no",
        "1<2>1",
        "<",
        "<a",
        "</>",
        "<b <i",
    ],
)
def test_what_only_looks_like_a_tag_keeps_its_words(text):
    letters = [word for word in tokenize(text).words() if word.isalnum()]
    assert "".join(letters) == "".join(filter(str.isalnum, text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("don&#39;t", ["don&#39;t"]),
        ("don&rsquo;t", ["don&rsquo;t"]),
        ("&#39;no&#x27;", ["&#39;", "no", "&#x27;"]),
        ("caf&eacute;s", ["caf&eacute;s"]),
        ("salt&nbsp;&amp;&nbsp;pepper", ["salt", "&amp;", "pepper"]),
        ("Q&A; AT&T", ["Q", "&", "A", ";", "AT", "&", "T"]),
        ("&nosuch; &#99999999; &#x110000;", None),
        ("&quot;Yes!&quot;", ["&quot;", "Yes", "!", "&quot;"]),
        ("&lt;br&gt;", ["&lt;", "br", "&gt;"]),
        ("ex&shy;ample", ["ex&shy;ample"]),
        ("&#10;a", ["a"]),
    ],
)
def test_an_entity_is_read_as_what_it_stands_for(text, words):
    found = tokenize(text).words()
    assert found == words if words else "&" in found


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("see http://a.org/b_(c)?d=e&f#g.", "http://a.org/b_(c)?d=e&f#g"),
        ("(www.a.org), yes", "www.a.org"),
        ("HTTPS://A.ORG/ now", "HTTPS://A.ORG/"),
        ("看http://a.cn/b。好", "http://a.cn/b"),
        ("<http://a.org>", "http://a.org"),
        ("mail jo.b+c@a-b.co.uk.", "jo.b+c@a-b.co.uk"),
        ("<jo@a.org>", "jo@a.org"),
    ],
)
def test_an_address_is_one_token_without_the_punctuation_around_it(text, address):
    assert address in tokenize(text).words()


@pytest.mark.parametrize("text", ["@you", "a@b", "http://", "www.", "x@@y.z", "awww.cute"])
def test_half_an_address_is_none(text):
    assert "u" not in masked(text)


@pytest.mark.parametrize("face", [":)", ":-)", ";-)", "=)", ":(", ":-((", ":D", ":-P"])
def test_a_face_is_one_token(face):
    assert tokenize(f"nice {face} really").words() == ["nice", face, "really"]


@pytest.mark.parametrize("text", ["f(x=(1))", "note:(a)", "a:Db", "10:Paris"])
def test_code_and_lists_have_no_faces(text):
    assert "f" not in masked(text.replace("f", "g"))
