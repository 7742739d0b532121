"""The page at / in a real browser: reading, erasing, comparing, marking, files, phones."""

import pytest

TEXT = "the film was awful. then we saw the evening and the music. it was dull."


@pytest.fixture
def visit(browser):
    """Return a function that opens the page of a server; any complaint fails the test."""
    opened = []

    def visiting(server, **options):
        page = browser.new_page(**options)
        page.said, page.requested = [], []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("request", lambda request: page.requested.append(request.url))
        page.goto(f"http://127.0.0.1:{server.port}/")
        page.wait_for_selector("#model option", state="attached")
        opened.append((page, server))
        return page

    yield visiting
    for page, server in opened:
        assert page.said == []
        own = (f"http://127.0.0.1:{server.port}/", "data:", "blob:")
        assert all(url.startswith(own) for url in page.requested)
        page.close()


def ask(page, text=TEXT):
    page.fill("#text", text)
    page.click("#go")
    page.wait_for_selector(".answer .line")


def test_a_text_is_answered_and_explained_with_its_receipt(server, visit):
    page = visit(server)
    ask(page)
    assert page.inner_text(".lead").startswith("bad with")
    assert page.locator(".line").count() == 3
    assert page.locator(".text").text_content().count("awful") == 1
    assert page.locator(".conclusion").inner_text()
    assert page.locator("details svg").count() >= 1


def test_erasing_by_click_and_by_key_changes_the_answer_at_once(server, visit):
    page = visit(server)
    ask(page)
    page.click("[aria-label='Erase sentence 1']")
    page.wait_for_selector(".what-if:has-text('1 erased piece')")
    page.click("[aria-label='Erase sentence 3']")
    page.wait_for_selector(".what-if:has-text('2 erased pieces')")
    for number in (1, 3):
        page.click(f"[aria-label='Erase sentence {number}']")
    page.wait_for_selector(".what-if", state="hidden")
    page.focus(".w[tabindex='0']")
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    assert page.locator(".w.gone").inner_text() == "awful"
    page.wait_for_selector(".what-if:has-text('1 erased piece')")


def test_what_a_text_holds_never_becomes_markup(server, visit):
    page = visit(server)
    ask(
        page,
        "<img src=x onerror=x()> the film was <b>dull</b>. \U0001f600 <script>x()</script>",
    )
    assert page.locator(".text img, .text b, .text script").count() == 0
    assert "<img src=x onerror=x()>" in page.locator(".text").text_content()


def test_another_label_is_explained(server, visit):
    page = visit(server)
    ask(page)
    page.select_option("#label", "good")
    page.wait_for_selector(".lead:has-text('good')")


def test_two_models_stand_side_by_side(start, model_folder, visit):
    server = start(models={"one": str(model_folder), "two": str(model_folder)})
    page = visit(server)
    page.select_option("#other", "two")
    ask(page)
    assert page.locator(".answer h2").all_inner_texts() == ["one", "two"]


def test_a_sentence_can_be_marked(server, visit):
    page = visit(server)
    ask(page)
    page.click("[aria-label='Sentence 2: irrelevant']")
    page.wait_for_selector("#status:has-text('Mark kept')")
    marked = [one for one in server.ask("/marks")[2] if one["text"] == TEXT]
    assert [(one["kind"], TEXT[one["start"] : one["end"]][:4]) for one in marked] == [
        ("irrelevant", "then")
    ]


def test_a_table_is_labelled_row_by_row(server, visit):
    page = visit(server)
    rows = 'id;text\r\n1;"a great; ""lovely"" film"\r\n2;the story was awful\r\n'
    page.set_input_files(
        "#file", {"name": "x.csv", "mimeType": "text/csv", "buffer": rows.encode()}
    )
    page.wait_for_selector("#rows tbody tr")
    assert page.locator("#rows td:first-child").all_inner_texts() == ["good", "bad"]
    page.click("#rows tbody tr:nth-child(1) button")
    page.wait_for_selector(".answer .line")
    assert page.input_value("#text") == 'a great; "lovely" film'


def test_an_html_file_is_read_as_its_text(server, visit):
    page = visit(server)
    html = b"<p>the film was <b>dull</b></p><script>document.title = 'x'</script>"
    page.set_input_files("#file", {"name": "x.html", "mimeType": "text/html", "buffer": html})
    page.wait_for_selector(".answer .line")
    assert "the film was dull" in page.input_value("#text")
    assert page.title() == "regard"


def test_an_explanation_is_saved_as_a_file(server, visit, tmp_path):
    page = visit(server)
    ask(page)
    with page.expect_download() as download:
        page.click("text=Save this as a file")
    download.value.save_as(tmp_path / "x.html")
    assert "awful" in (tmp_path / "x.html").read_text(encoding="utf-8")


def test_nothing_is_wider_than_a_phone(server, visit):
    page = visit(server, viewport={"width": 360, "height": 740})
    ask(page, f"{TEXT} {'donaudampfschifffahrt' * 8}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_the_page_asks_for_the_key(start, model_folder, browser):
    server = start(models={"reviews": str(model_folder)}, key="open sesame")
    page = browser.new_page()
    page.goto(f"http://127.0.0.1:{server.port}/")
    page.fill("#key", "open sesame")
    page.click("#key-dialog button")
    page.wait_for_selector("#model option", state="attached")
    ask(page)
    page.close()


def test_a_refusal_is_said_on_the_page(server, visit):
    page = visit(server)
    page.click("#go")
    assert "no text" in page.inner_text("#status")
