import base64
import hashlib

import pytest

from regard.views.drawing.page import escape, page
from support.pages import Page

NASTY = "<script>alert('1')</script> & \"quoted\" \x00 \ud800 🙂"


def test_escaped_text_reads_as_it_was_written():
    read = Page(f'<p title="{escape(NASTY)}">{escape(NASTY)}</p>')
    shown = NASTY.replace("\x00", "\ufffd").replace("\ud800", "\ufffd")
    assert read.text == shown
    assert read.attributes == [("p", "title", shown)]
    assert read.tags == ["p"]


@pytest.mark.parametrize(("value", "text"), [(3, "3"), (None, "None"), (0.5, "0.5")])
def test_whatever_is_shown_becomes_text(value, text):
    assert escape(value) == text


def test_a_page_can_be_written_whatever_its_title():
    written = page(NASTY, "<p>body</p>")
    assert written.encode()
    assert Page(written).tags.count("script") == 0


def test_the_policy_allows_the_one_script_and_no_request():
    script = "document.title = '<é>';"
    read = Page(page("title", "", scripts=script))
    assert read.scripts == [script]
    (policy,) = [
        value for _, name, value in read.attributes if name == "content" and "src" in value
    ]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert "default-src 'none'" in policy and f"script-src 'sha256-{digest}'" in policy
    assert "http:" not in policy and "https:" not in policy


def test_without_scripts_none_is_allowed():
    assert "script-src 'none'" in page("title", "")


def test_styles_come_after_those_of_the_frame():
    written = page("title", "", styles="main { color: red }")
    assert written.index("prefers-color-scheme: dark") < written.index("main { color: red }")
