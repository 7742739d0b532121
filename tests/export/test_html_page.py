"""A model in one page, opened from a file in a real browser with the network off."""

import re
from dataclasses import asdict, replace

import numpy as np
import pytest

from regard.errors import ConfigError
from regard.estimators.saved import Saved
from regard.explain.rankings import BINS
from regard.explain.verdicts import SetTest
from regard.export import html_page
from regard.export.html_page import METHODS, NEAR, write_page
from regard.models import CAHANConfig, FlatConfig, HANConfig
from regard.models.ngrams import Emphasis, Marking
from regard.models.wide import WideConfig
from regard.nn.attention import SCORES
from regard.records.explanation import Decision, ErasureCurve, Receipt
from regard.text.tokenize import TextConfig
from regard.views.explanation.receipt import CONCLUSIONS, MEANINGS, tell_receipt
from regard.views.explanation.words import notes, tell_finding
from support.odd_texts import odd_texts
from support.reviews import reviews, tagged, tiny

TEXT = "the film was awful. then we saw the evening and the music. it was dull."


def saved_in(fitted, folder):
    fitted.save(folder)
    return Saved.read(folder)


@pytest.fixture(scope="module")
def fitted():
    """Return a classifier whose n-grams count by where they stand, and beside which words."""
    found = tiny().fit(*reviews(80))
    emphasis = Emphasis(first=0.5, last=3)
    marking = Marking(np.linspace(-1, 1, len(found.vocab_), dtype=np.float32))
    found.model_.tables = tuple(
        replace(table, emphasis=emphasis, marking=marking) for table in found.model_.tables
    )
    return found


@pytest.fixture(scope="module")
def written(fitted, tmp_path_factory):
    """Return the page of a model."""
    folder = tmp_path_factory.mktemp("page")
    write_page(saved_in(fitted, folder / "model"), folder / "page.html")
    return folder / "page.html"


@pytest.fixture(scope="module")
def visit(browser):
    """Return a function that opens a page with the network off; any complaint or request fails."""
    opened = []

    def visiting(path, **options):
        context = browser.new_context(offline=True, **options)
        page = context.new_page()
        page.said, page.requested = [], []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("request", lambda request: page.requested.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("#model option", state="attached")
        opened.append((context, page, path))
        return page

    yield visiting
    for context, page, path in opened:
        assert page.said == []
        assert page.requested == [path.as_uri()]
        context.close()


@pytest.fixture(scope="module")
def page(visit, written):
    return visit(written)


def predict(page, texts):
    ask = "async (texts) => (await localModel.answer('batch', { texts })).json()"
    return page.evaluate(ask, texts)["answers"]


def explain(page, text, **asked):
    ask = "async (asked) => (await localModel.answer('explain', asked)).json()"
    return page.evaluate(ask, {"text": text, "receipt": False, **asked})


def speak(text):
    """JSON between Python and a browser holds whole characters alone."""
    return text.encode("utf-8", "replace").decode("utf-8")


def test_the_page_answers_as_the_model_does(fitted, page):
    texts = [*reviews(60, seed=3)[0], *map(speak, odd_texts(100)), "", "?!"]
    found = predict(page, texts)
    names = [str(label) for label in fitted.classes_]
    likely = np.array([[one["probabilities"][name] for name in names] for one in found])
    assert np.abs(likely - fitted.predict_proba(texts)).max() < NEAR
    assert [one["labels"] for one in found[:60]] == [
        [str(one)] for one in fitted.predict(texts[:60])
    ]


def test_several_labels_a_document(fitted_tags, visit, tmp_path):
    out = tmp_path / "tags.html"
    write_page(saved_in(fitted_tags, tmp_path / "model"), out)
    texts = reviews(20, seed=5)[0]
    page = visit(out)
    found = predict(page, texts)
    names = [str(label) for label in fitted_tags.classes_]
    likely = np.array([[one["probabilities"][name] for name in names] for one in found])
    assert np.abs(likely - fitted_tags.predict_proba(texts)).max() < NEAR
    assert [set(one["labels"]) for one in found] == [set(one) for one in fitted_tags.predict(texts)]
    none = next(text for text, one in zip(texts, found, strict=True) if not one["labels"])
    some = next(text for text, one in zip(texts, found, strict=True) if one["labels"])
    for text, told in ((none, True), (some, False)):
        finding = explain(page, text)["said"]["finding"]
        assert finding.startswith("No label is given: none is likelier than not. Half") == told


def test_each_of_several_labels_is_explained(fitted_tags, visit, tmp_path):
    out = tmp_path / "tags.html"
    write_page(saved_in(fitted_tags, tmp_path / "model"), out)
    page = visit(out)
    for text in ("We saw the artword. Then the musicword was it.", "We saw it."):
        found = explain(page, text, receipt=True)
        own = fitted_tags.explain(text)
        labels = [one["label"] for one in found["decisions"]]
        assert labels == [one.label for one in own.decisions]
        for place, (said, ours) in enumerate(
            zip([found["said"], *found["also_said"]], own.decisions, strict=True)
        ):
            curve = found["decisions"][place]["receipt"]["curves"][0]
            np.testing.assert_allclose(curve["without"], ours.receipt.curves[0].without, atol=2e-3)
            asked = explain(page, text, receipt=True, label=ours.label)
            assert asked["said"] == said and asked["decisions"] == [found["decisions"][place]]
            assert asked["also_said"] == []
    page.fill("#text", "We saw the artword. Then the musicword was it.")
    page.click("#go")
    page.wait_for_selector(".labels")
    with page.expect_download() as waiting:
        page.click("text=Save this as a file to send >> visible=true")
    kept = waiting.value.path().read_text(encoding="utf-8")
    assert kept.count('class="lead"') == kept.count('class="of-label"') == 2
    assert 'class="of-label" hidden' not in kept and "<button" not in kept


@pytest.mark.parametrize(
    "changes",
    [
        {"network__weighing": "states", "network__directions": 1, "wide": None},
        {"network__sentence_hidden_size": 5, "text__lowercase": False, "wide__longest": 2},
        {"text__max_sentences": 2, "text__max_words": 5, "wide__letters": False},
        {"classes": (1, 2, 3)},
        {"text__unknown": "nearest"},
    ],
    ids=["states", "sizes", "caps", "three", "nearest"],
)
def test_other_settings_answer_alike(scripts, tmp_path, changes):
    classes = changes.pop("classes", ("bad", "good"))
    fitted = tiny(training__epochs=2, **changes).fit(*reviews(60, classes=classes))
    open_engine(scripts, saved_in(fitted, tmp_path / "model"))
    texts = [*reviews(20, seed=1, classes=classes)[0], "Dull. DULL! A b c d e f g h.", ""]
    texts += [text.replace("a", "aa") for text in texts]  # words that are not known
    ask = "(texts) => texts.map((text) => [...engine.answer(text).likely])"
    found = np.array(scripts.evaluate(ask, texts))
    assert np.abs(found - fitted.predict_proba(texts)).max() < NEAR


def open_engine(scripts, saved):
    """Let the scripts open a model as its page does."""
    model = saved.fitted("cpu")
    rounded = html_page.round_model(saved, model)
    packed = html_page.pack(*html_page._content(saved, model, rounded, "x"))
    ask = "async (packed) => { globalThis.engine = await Engine.open(Uint8Array.from(packed)); }"
    scripts.evaluate(ask, list(packed))


@pytest.mark.parametrize(
    "network",
    [
        {"cell": "lstm"},
        {"cell": "rnn"},
        {"cell": "lstm", "directions": 1},
        {"layers": 2},
        {"layers": 3, "cell": "lstm", "weighing": "states", "sentence_hidden_size": 5},
        *({"score": score} for score in SCORES if score not in ("context", "location")),
        {"encoder": "none"},
        {"pooling": "mean"},
        {"encoder": "none", "pooling": "mean"},
    ],
    ids=str,
)
def test_other_networks_answer_and_explain_alike(scripts, tmp_path, network):
    changes = {f"network__{name}": value for name, value in network.items()}
    fitted = tiny(wide=None, training__epochs=4, **changes).fit(*reviews(60))
    open_engine(scripts, saved_in(fitted, tmp_path / "model"))
    explains_alike(scripts, fitted, [TEXT, *reviews(5, seed=1)[0], "dull", ""])


@pytest.mark.parametrize("wide", [None, WideConfig()], ids=["alone", "with n-grams"])
@pytest.mark.parametrize("kind", ["two", "three", "several"])
def test_networks_that_answer_together_answer_and_explain_alike(scripts, tmp_path, kind, wide):
    texts, labels = {
        "two": reviews(60),
        "three": reviews(60, classes=(1, 2, 3)),
        "several": tagged(60),
    }[kind]
    fitted = tiny(wide=wide, training__epochs=2, seeds=3).fit(texts, labels)
    members = fitted.model_.network.members
    assert len({float(member.classify.weight.detach().sum()) for member in members}) == 3
    open_engine(scripts, saved_in(fitted, tmp_path / "model"))
    explains_alike(scripts, fitted, [*texts[:6], "dull", ""])


def explains_alike(scripts, fitted, texts):
    """Explain texts by every method, and one with a receipt: all is as the model has it."""
    for method in METHODS:
        asked = {"method": method, "receipt": False}
        for text in texts:
            ask = "([text, asked]) => engine.explain({ text, ...asked })"
            found = scripts.evaluate(ask, [text, asked])["decisions"]
            for own, decision in zip(fitted.explain(text, **asked).decisions, found, strict=True):
                assert decision["label"] == own.label
                assert decision["probability"] == pytest.approx(own.probability, abs=NEAR)
                for ours, theirs in zip(own.weights, decision["weights"], strict=True):
                    amounts = theirs["scores"] if ours.scores is not None else theirs["values"]
                    np.testing.assert_allclose(amounts, ours.amounts, atol=2e-3)
    found = scripts.evaluate("(text) => engine.explain({ text, receipt: true })", texts[0])
    measured = fitted.explain(texts[0], method=found["method"]).decisions
    for own, decision in zip(measured, found["decisions"], strict=True):
        for curve, theirs in zip(own.receipt.curves, decision["receipt"]["curves"], strict=True):
            np.testing.assert_allclose(theirs["without"], curve.without, atol=2e-3)
            np.testing.assert_allclose(theirs["alone"], curve.alone, atol=2e-3)


@pytest.mark.parametrize("method", METHODS)
def test_the_scores_are_those_of_the_model(fitted, page, method):
    for text in (TEXT, reviews(5, seed=9)[0][4], "dull", ""):
        found = explain(page, text, method=method)
        (own,) = fitted.explain([text], method=method, receipt=False)
        for ours, theirs in zip(
            own.decisions[0].weights, found["decisions"][0]["weights"], strict=True
        ):
            assert theirs["pieces"] == [list(piece) for piece in ours.pieces]
            assert theirs["by"] == ours.by
            amounts = theirs["scores"] if ours.scores is not None else theirs["values"]
            np.testing.assert_allclose(amounts, ours.amounts, atol=2e-3)
        assert found["said"]["finding"] == tell_finding(own, own.decisions[0])
        assert found["said"]["notes"] == notes(own, own.decisions[0])


def test_a_receipt_says_what_a_receipt_of_the_model_says(fitted, page):
    found = explain(page, TEXT, receipt=True)
    (own,) = fitted.explain([TEXT])
    receipt = found["decisions"][0]["receipt"]
    for ours, theirs in zip(own.receipt.curves, receipt["curves"], strict=True):
        assert (theirs["level"], theirs["taken"]) == (ours.level, list(ours.taken))
        np.testing.assert_allclose(theirs["without"], ours.without, atol=2e-3)
        np.testing.assert_allclose(theirs["alone"], ours.alone, atol=2e-3)
        # Other draws of the same kind.
        np.testing.assert_allclose(theirs["random_without"], ours.random_without, atol=0.2)
    assert [one["verdict"] for one in receipt["judgements"]] == [
        one.verdict for one in own.receipt.judgements
    ]
    assert receipt["verdict"] in CONCLUSIONS and found["said"]["conclusion"]
    assert all(
        any(
            meant.format(answer="the answer", pieces=noun, others=noun)[1:] in said
            for meant in MEANINGS.values()
            for noun in ("words", "sentences")
        )
        for said in found["said"]["verdicts"]
    )
    assert explain(page, TEXT, receipt=True) == found


def test_a_label_that_is_not_the_answer_is_not_called_so(fitted, page):
    for measured in (True, False):
        (own,) = fitted.explain([TEXT], label="good", receipt=measured)
        said = explain(page, TEXT, label="good", receipt=measured)["said"]
        assert said["notes"] == notes(own, own.decisions[0])
        told = " ".join([said["conclusion"], *said["verdicts"], *said["notes"]])
        assert "the answer" not in told.lower()
        assert "the label “good”" in told


def test_a_text_without_a_span_is_answered_as_its_score_says(page):
    for text in (TEXT, reviews(5, seed=9)[0][4]):
        found = explain(page, text, method="erasure")["decisions"][0]
        ask = "async (asked) => (await localModel.answer('predict', asked)).json()"
        for weights in found["weights"]:
            for piece, score in zip(weights["pieces"], weights["scores"], strict=True):
                left = page.evaluate(ask, {"text": text, "without": [piece]})["probabilities"]
                lost = found["probability"] - left[found["label"]]
                assert lost == pytest.approx(score, abs=1e-9)
        gone = page.evaluate(ask, {"text": text, "without": [[0, len(text)]]})
        assert gone["probabilities"] == predict(page, [""])[0]["probabilities"]


def test_what_erasing_did_is_said_as_in_other_views(scripts):
    for start, end in ((0.97, 0.31), (0.9994, 0.9986), (0.9994, 0.9996), (0.2, 0.9)):
        shares = {name: (end,) * 5 for name in ("without", "alone", "random_without")}
        curve = ErasureCurve("word", 304, (4, 16, 31, 61, 152), **shares, random_alone=(0.5,) * 5)
        decision = Decision("bad", start, (), receipt=Receipt("faithful", (), BINS, (curve,)))
        ask = "([curve, start]) => sayCurve(curve, start)"
        assert tell_receipt(decision) == [scripts.evaluate(ask, [asdict(curve), start])]


def test_of_a_long_text_the_words_that_seem_to_count_are_erased(fitted, page):
    text = " ".join(reviews(150, seed=2)[0])
    found = explain(page, text, method="erasure")
    words, sentences = found["decisions"][0]["weights"]
    assert 0 < words["measured"] < len(words["pieces"]) and len(sentences["pieces"]) > 100
    said = f"{words['measured']:,} that seemed to count most were taken away one by one"
    assert any(said in note for note in found["said"]["notes"])
    (own,) = fitted.explain([text], method="erasure", receipt=False)
    ours = np.array(own.decisions[0].weights[0].scores)
    heaviest = np.argsort(-np.abs(ours))[:20]
    np.testing.assert_allclose(np.array(words["scores"])[heaviest], ours[heaviest], atol=2e-3)


def test_a_verdict_is_reached_by_the_same_test(scripts):
    draw = np.random.default_rng(0)
    for pieces, noise in ((40, 0.1), (40, 60.0), (12, 0.5), (4, 0.1)):
        gone = draw.random((80, pieces)) < 0.3
        scores = draw.normal(size=pieces)
        lost = gone @ scores + noise * draw.normal(size=80)
        test = SetTest(gone, lost)
        asked = [gone.astype(int).tolist(), lost.tolist(), scores.tolist()]
        agreement, best, judged = scripts.evaluate(
            """([gone, lost, scores]) => {
              const test = new SetTest(gone, lost);
              const judged = test.judge("word", scores, 0.2);
              return [test.agreement(scores), test.agreement(test.best()), judged];
            }""",
            asked,
        )
        assert agreement == pytest.approx(test.agreement(scores), abs=1e-9)
        fit, *_ = np.linalg.lstsq(test._gone.T, test._lost, rcond=1e-9)
        assert best == pytest.approx(test.agreement(fit), abs=1e-6)
        ours = test.judge("word", scores, 0.2)
        assert judged["verdict"] == ours.verdict
        assert judged["p_value"] == pytest.approx(ours.p_value, abs=0.06)


def test_a_reader_sees_the_text_with_what_counted_and_erases(page):
    page.fill("#text", TEXT)
    page.click("#go")
    page.wait_for_selector(".answer .line")
    assert page.inner_text(".lead").startswith("bad with")
    assert page.locator(".line").count() == 3
    concluded = page.inner_text(".conclusion")
    known = [said.format(answer="the answer") for said in CONCLUSIONS.values()]
    assert concluded in known or "You may take" in concluded
    assert page.locator("details svg").count() >= 1
    page.click("[aria-label='Erase sentence 1']")
    page.wait_for_selector(".what-if:has-text('1 erased piece')")
    page.click("[aria-label='Erase sentence 1']")


def test_what_a_text_holds_never_becomes_markup(page):
    page.fill("#text", "<img src=x onerror=x()> the film was <b>dull</b>. <script>x()</script>")
    page.click("#go")
    page.wait_for_selector(".text:has-text('onerror')")
    assert page.locator(".text img, .text b, .text script").count() == 0


def test_an_answer_is_saved_as_a_page_of_its_own(page, visit, tmp_path):
    page.fill("#text", TEXT)
    page.click("#go")
    page.wait_for_selector(".answer .line")
    with page.expect_download() as waiting:
        page.click("text=Save this as a file to send")
    kept = tmp_path / "explanation.html"
    waiting.value.save_as(kept)
    assert "awful" in kept.read_text(encoding="utf-8")
    assert "<button" not in kept.read_text(encoding="utf-8")


def test_the_page_says_what_it_is(page):
    assert page.title() == "page · regard"
    said = page.inner_text("header")
    assert "nothing that you type or drop here leaves it" in said
    assert "The model learnt from 72 documents and labels" in said


def test_documents_of_folds_are_not_called_others_than_the_model_learnt_from(fitted, tmp_path):
    """Each was held out once, but the model in the page learnt from all of them."""
    saved = saved_in(fitted, tmp_path / "model")
    counts = {"training_documents": 550, "validation_documents": 550, "folds": 4}
    given = replace(saved, facts={**saved.facts, **counts, "validation_accuracy": 0.8945})
    write_page(given, tmp_path / "page.html")
    told = (
        "The model learnt from 550 documents. Each was also answered once by a network that had "
        "not read it, and 89.5 % of those answers are what people said."
    )
    written = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert told in written and "others as people" not in written


def test_the_policy_forbids_every_request(written):
    head = written.read_text(encoding="utf-8")[:2000]
    assert "default-src 'none'; script-src 'sha256-" in head
    assert "unsafe" not in head and "connect-src" not in head


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"network": FlatConfig()}, "model han, this one has flat; --to onnx takes it"),
        ({"network": CAHANConfig()}, "model han, this one has cahan$"),
        (
            {"network": HANConfig(encoder="transformer")},
            "recurrent or none, this one has transformer$",
        ),
        ({"network": HANConfig(reading="flow")}, "network.reading isolated, .*--to onnx takes it"),
        ({"network": HANConfig(pooling="max")}, "attention or mean, .*--to onnx takes it"),
        ({"network": HANConfig(score="location")}, "additive or .* general_diag, .*has location$"),
        ({"text": TextConfig(cjk="icu")}, "text.cjk characters, .*--to onnx takes it"),
    ],
)
def test_what_the_page_cannot_compute_is_refused(fitted, tmp_path, changes, named):
    saved = saved_in(fitted, tmp_path / "model")
    other = replace(saved, settings=replace(saved.settings, **changes))
    with pytest.raises(ConfigError, match=named):
        write_page(other, tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_what_is_unlike_the_model_is_said(fitted, tmp_path, monkeypatch):
    saved = saved_in(fitted, tmp_path / "model")
    other = replace(saved, facts={**saved.facts, "explain_method": "integrated_gradients"})
    monkeypatch.setattr(html_page, "LARGEST", 1000)
    told = write_page(other, tmp_path / "page.html")
    assert "explains by gradient_input, since a page does not know integrated_gradients" in told
    assert "train with --set text.max_size=20000" in told


def test_the_size_of_each_network_is_said(fitted, tmp_path, monkeypatch):
    saved = saved_in(tiny(training__epochs=1, seeds=3).fit(*reviews(40)), tmp_path / "several")
    monkeypatch.setattr(html_page, "LARGEST", 1000)
    told = write_page(saved, tmp_path / "several.html")
    assert re.search(r"^0\.\d MB, 0\.0 of it for each of its 3 networks; ", told)
    assert "train with fewer --seeds, or with --set text.max_size=20000" in told
    told = write_page(saved_in(fitted, tmp_path / "single"), tmp_path / "single.html")
    assert "networks" not in told and "--seeds" not in told


def test_the_same_model_gives_the_same_page(fitted, written, tmp_path):
    again = tmp_path / written.name
    write_page(saved_in(fitted, tmp_path / "model"), again)
    assert again.read_bytes() == written.read_bytes()


UNSPACED = {
    "chinese": [
        "房间很干净，服务非常热情。早餐也不错！",
        "酒店太吵了，我们一晚上没睡好。再也不来。",
    ],
    "japanese": [
        "部屋はとても静かで、よく眠れました。",
        "スタッフの態度が悪く、眠れませんでした。",
    ],
    "korean": ["이 영화는 정말 재미있었다.", "배우들의 연기가 너무 어색했어요!"],
}


@pytest.mark.parametrize("script", UNSPACED)
def test_words_are_shaded_and_taken_away_where_characters_are_read(visit, tmp_path, script):
    pytest.importorskip("icu4py")
    texts = UNSPACED[script]
    fitted = tiny(text__hangul="syllables").fit(texts * 20, ["good", "bad"] * 20)
    write_page(saved_in(fitted, tmp_path / "model"), tmp_path / "page.html")
    page = visit(tmp_path / "page.html")
    for method in METHODS:
        found = explain(page, texts[1], method=method)["decisions"][0]["weights"][0]
        weights = fitted.explain(texts[1], method=method, receipt=False).decisions[0].level("word")
        assert [tuple(piece) for piece in found["pieces"]] == list(weights.pieces)
        assert len(found["pieces"]) < len(texts[1]) - 4, "words, not characters"
        np.testing.assert_allclose(found["values"], weights.values, atol=NEAR)
    receipt = explain(page, texts[1], receipt=True)["decisions"][0]["receipt"]
    ours = fitted.explain(texts[1]).decisions[0].receipt
    assert receipt["curves"][0]["piece_count"] == ours.curves[0].piece_count
    strange = fitted.explain("眠れz 영화x 房间y", receipt=False)
    shown = explain(page, "眠れz 영화x 房间y")
    assert [tuple(span) for span in shown["unknown"]] == list(strange.unknown)
