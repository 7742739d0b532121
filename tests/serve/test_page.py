"""The page at / in a real browser: reading, erasing, comparing, marking, files, phones."""

import io

import pytest

from regard.views.drawing.words import percent
from support.reviews import tagged, tiny

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
    """000-16: the answer, how sure it is of every label, and the text with what decided."""
    page = visit(server)
    ask(page)
    assert page.inner_text(".lead").startswith("bad with")
    assert page.locator(".line").count() == 3
    assert page.locator(".text").text_content().count("awful") == 1
    assert page.locator(".conclusion").inner_text()
    assert page.locator("details svg").count() >= 1


def test_shares_are_written_as_in_other_views(server, visit):
    shares = [0, 1e-9, 0.00049, 0.0005, 0.1234, 0.9994, 0.9996, 1 - 1e-9, 1]
    page = visit(server)
    assert page.evaluate("shares => shares.map(percent)", shares) == list(map(percent, shares))


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


def test_an_answer_that_stays_is_not_said_to_become_another(server, visit):
    """Asked about a label that is not the answer: it is none without a quiet sentence either."""
    page = visit(server)
    ask(page, "the film was awful. then we saw the evening. it was brilliant.")
    answer = page.inner_text(".lead b")
    other = "good" if answer == "bad" else "bad"
    page.select_option("#label", other)
    page.wait_for_selector(f".lead:has-text('{other} with')")
    page.click("[aria-label='Erase sentence 2']")
    page.wait_for_selector(".what-if:has-text('1 erased piece')")
    assert "becomes" not in page.inner_text(".what-if")
    page.click(f"[aria-label='Erase sentence {1 if answer == 'bad' else 3}']")
    page.wait_for_selector(f".what-if:has-text('the answer becomes {other}.')")


def test_an_erased_word_is_taken_out_and_moves_no_sentence(server, visit):
    """What is asked is the text as it is, and where it was erased."""
    page = visit(server)
    text = "a dull-witted 🙂 film(awful). it was dull."
    ask(page, text)
    sent = []
    page.on("request", lambda request: sent.append(request.post_data_json))
    for count, word in enumerate((".", "("), 1):
        page.locator(".w", has_text=word).first.click()
        page.wait_for_selector(f".what-if:has-text('{count} erased')")
    assert {one["text"] for one in sent} == {text}
    stop, bracket = ([place, place + 1] for place in (text.index("."), text.index("(")))
    assert [one["without"] for one in sent] == [[stop], [stop, bracket]]


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


def test_every_label_of_several_is_shown_with_its_own_receipt(start, tags_folder, visit):
    page = visit(start(models={"tags": str(tags_folder)}))
    ask(page, "We saw the artword. Then the musicword was it.")
    shown = page.locator(".of-label:visible")
    names = page.locator(".labels button").all_inner_texts()
    assert [name.split()[0] for name in sorted(names)] == ["art", "music"]
    assert shown.count() == 1
    said = {}
    for place, name in enumerate(name.split()[0] for name in names):
        page.locator(".labels button").nth(place).click()
        assert page.locator(".labels button[aria-pressed=true]").inner_text() == names[place]
        assert shown.locator(".lead").inner_text().startswith(f"{name} with")
        assert shown.locator(".columns .name").first.inner_text() == f"{name}word"
        said[name] = shown.locator("details").inner_text()
        shown.locator(".w", has_text=f"{name}word").click()
        shown.locator(f".what-if:has-text('1 erased piece: {name}')").wait_for()
    assert said["art"] != said["music"]
    page.select_option("#label", "music")
    page.wait_for_selector(".answer:not(:has(.labels)) .lead:has-text('music')")


def test_a_text_that_is_given_no_label_is_told_first(start, tags_folder, fitted_tags, visit):
    page, texts = visit(start(models={"tags": str(tags_folder)})), tagged(40, seed=2)[0]
    answers = zip(texts, fitted_tags.predict(texts), strict=True)
    ask(page, next(text for text, given in answers if not given))
    assert page.inner_text(".lead").startswith("No label; the likeliest is ")


def test_the_names_of_labels_never_become_markup(start, tmp_path, visit):
    texts, labels = tagged(80)
    names = {"art": "<b>art</b>", "music": "<img src=x onerror=x()>"}
    made = tiny(training__epochs=16).fit(texts, [[names[one] for one in some] for some in labels])
    made.save(tmp_path / "tags")
    page = visit(start(models={"tags": str(tmp_path / "tags")}))
    ask(page, "We saw the artword. Then the musicword was it.")
    found = [name.split(" with")[0] for name in page.locator(".lead").all_text_contents()]
    assert sorted(found) == sorted(names.values())
    assert page.locator(".answer img, .labels b").count() == 0


def test_a_contrast_names_the_label_that_it_is_held_against(server, visit):
    page = visit(server)
    ask(page)
    assert "rather than" not in page.inner_text(".lead")
    page.select_option("#method", "contrast")
    page.wait_for_selector(".lead:has-text('rather than good')")


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
    """000-16: a file is dropped, and every row gets its label."""
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


def photograph(size=(60, 40)):
    """Return a picture to upload."""
    images = pytest.importorskip("PIL.Image", reason="no pillow")
    file = io.BytesIO()
    made = images.radial_gradient("L").resize(size).convert("RGB")
    made.save(file, "PNG")
    return {"name": "sea <b>.png", "mimeType": "image/png", "buffer": file.getvalue()}


def test_a_picture_shows_where_each_word_looked(writers, visit):
    page = visit(writers)
    page.select_option("#model", "shapes")
    assert page.locator("#text").is_hidden() and page.locator("#method").is_hidden()
    page.click("#go")
    assert "no picture" in page.inner_text("#status")
    page.set_input_files("#picture", photograph())
    page.wait_for_selector(".answer .stage")
    words = page.locator(".sentence .piece").all_inner_texts()
    assert words and page.locator(".looks li").count() == len(words)
    assert page.locator(".looks canvas").count() == len(words)
    assert page.locator(".stage canvas").count() == 0
    page.hover(".sentence .piece >> nth=0")
    page.wait_for_selector(".stage canvas")
    page.focus(".sentence .piece[tabindex='0']")
    page.keyboard.press("ArrowRight")
    assert page.locator(".piece[aria-pressed=true]").inner_text() == words[1]
    assert f"“{words[1]}” looked most at" in page.inner_text(".stage [role=status]")
    assert words[1] in page.get_attribute(".stage .seen", "aria-label")
    assert page.locator(".conclusion").inner_text()
    assert "sea <b>.png" in page.inner_text("#picture-name")
    with page.expect_download() as download:
        page.click("text=Save this as a file")
    assert download.value.suggested_filename == "caption.html"


def test_a_picture_finds_the_model_that_reads_pictures(writers, server, visit):
    page = visit(writers)
    page.set_input_files("#file", photograph())
    page.wait_for_selector(".answer .stage")
    assert page.input_value("#model") == "shapes"
    other = visit(server)
    other.set_input_files("#file", photograph())
    other.wait_for_selector("#status:has-text('No model here writes about pictures')")


def test_a_large_photograph_is_made_smaller_before_it_is_sent(writers, visit):
    """Cameras write more than a server takes."""
    images = pytest.importorskip("PIL.Image", reason="no pillow")
    file = io.BytesIO()
    images.effect_noise((2600, 1300), 90).convert("RGB").save(file, "PNG", compress_level=1)
    assert len(file.getvalue()) > 4_000_000
    page = visit(writers)
    page.select_option("#model", "shapes")
    sent = {"name": "x.png", "mimeType": "image/png", "buffer": file.getvalue()}
    page.set_input_files("#picture", sent)
    page.wait_for_selector(".answer .stage")


def test_a_picture_that_cannot_be_read_is_said(writers, visit):
    page = visit(writers)
    page.select_option("#model", "shapes")
    broken = {"name": "x.png", "mimeType": "image/png", "buffer": b"no picture"}
    page.set_input_files("#picture", broken)
    page.wait_for_selector("#status.bad:has-text('no picture')")
    page.said.clear()  # the browser writes the refusal down


def test_a_translation_shows_where_each_piece_looked(writers, visit):
    page = visit(writers)
    page.select_option("#model", "parrot")
    page.fill("#text", "a b c")
    page.click("#go")
    page.wait_for_selector(".answer .of-source")
    assert page.locator(".of-source .piece").all_inner_texts() == ["a", "b", "c"]
    page.hover(".sentence:not(.of-source) .piece >> nth=0")
    page.wait_for_selector(".answer [role=status]:has-text('Looked at')")
    colours = page.locator(".of-source .piece").evaluate_all(
        "pieces => pieces.map((piece) => piece.style.backgroundColor)"
    )
    assert any(colours)
    assert page.locator(".matrix tbody tr").count() >= 1
    assert page.locator(".conclusion").inner_text()


@pytest.mark.parametrize("name", ["shapes", "parrot"])
def test_what_is_written_is_no_wider_than_a_phone(writers, visit, name):
    page = visit(writers, viewport={"width": 360, "height": 740}, color_scheme="dark")
    page.select_option("#model", name)
    if name == "shapes":
        page.set_input_files("#picture", photograph((400, 100)))
    else:
        page.fill("#text", "a b c d e f g h " * 6)
        page.click("#go")
    page.wait_for_selector(".answer .sentence")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
