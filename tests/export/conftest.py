"""Scripts of the page in a browser, without the page."""

import pytest

from regard.export.html_page import SCRIPTS
from regard.export.reader import asset, scanner_rules


@pytest.fixture(scope="module")
def scripts(browser):
    """Return an empty page that knows the functions and classes of the scripts, and the rules."""
    page = browser.new_page()
    page.add_script_tag(content="\n".join(map(asset, SCRIPTS)))
    page.evaluate("(rules) => { globalThis.written = rules; }", scanner_rules())
    yield page
    page.close()
