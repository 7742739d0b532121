"""What each endpoint answers, and how it refuses."""

import asyncio
import base64
import io
import json
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from fastapi import FastAPI
from uvicorn.config import STARTUP_FAILURE

from regard.records.alignment import Alignment
from regard.records.caption import Caption
from regard.records.explanation import Explanation
from regard.serve.app import SETTINGS_VARIABLE, _add_writers, worker
from regard.serve.metrics import FOLDER_VARIABLE
from regard.serve.questions import Caption as Asked
from regard.serve.run import PROBLEM, STARTED
from regard.serve.settings import Limits, ServeSettings
from regard.serve.shelf import Shelf
from regard.views.explanation.receipt import tell_receipt
from support.pages import Page

TEXT = "the film was dull and the story was awful. then we saw the evening."


def test_predict_gives_what_the_model_gives(server, fitted):
    status, _, found = server.ask("/predict", {"text": TEXT})
    assert status == 200
    assert found["model"] == "reviews"
    assert found["labels"] == fitted.predict([TEXT]).tolist()
    likely = dict(zip(fitted.classes_.tolist(), fitted.predict_proba([TEXT])[0], strict=True))
    assert found["probabilities"] == pytest.approx(likely, abs=1e-6)


def test_a_text_is_labelled_without_some_spans_of_it(server, fitted):
    (decision,) = fitted.explain(TEXT, method="erasure", receipt=False).decisions
    words = decision.level("word")
    for piece, score in zip(words.pieces, words.scores, strict=True):
        _, _, found = server.ask("/predict", {"text": TEXT, "without": [piece]})
        lost = decision.probability - found["probabilities"][decision.label]
        assert lost == pytest.approx(score, abs=1e-6)
    _, _, found = server.ask("/predict", {"text": TEXT, "without": [[0, 20], [10, len(TEXT)]]})
    assert found == server.ask("/predict", {"text": ""})[2]


def test_batch_answers_in_order(server, fitted):
    texts = [TEXT, "a great evening", "", "lovely music. bright story."]
    status, _, found = server.ask("/batch", {"texts": texts})
    assert status == 200
    assert [one["labels"][0] for one in found["answers"]] == fitted.predict(texts).tolist()
    assert server.ask("/batch", {"texts": []})[2]["answers"] == []


def test_many_at_once_get_each_their_own_answer(server, fitted):
    texts = [
        f"the film was {cue}. {'we saw it. ' * n}" for n in range(12) for cue in ("dull", "great")
    ]
    expected = fitted.predict_proba(texts)[:, 0]
    found = {}

    def ask(place):
        found[place] = server.ask("/predict", {"text": texts[place]})[2]["probabilities"]["bad"]

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(len(texts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[place] for place in range(len(texts))] == pytest.approx(expected, abs=1e-5)


def test_explain_gives_the_record_and_says_it_in_words(server, fitted):
    status, _, found = server.ask("/explain", {"text": TEXT})
    assert status == 200
    expected = fitted.explain(TEXT)
    record = Explanation.from_json(json.dumps(found))
    assert record.label == expected.label
    assert record.receipt is not None
    assert record.receipt.verdict == expected.receipt.verdict
    assert record.decisions[0].words.values == pytest.approx(
        expected.decisions[0].words.values, abs=1e-5
    )
    assert found["said"]["conclusion"]
    assert found["said"]["receipt"]


def test_explain_another_label_by_another_method_without_receipt(server):
    asked = {"text": TEXT, "label": "good", "method": "erasure", "receipt": False}
    _, _, found = server.ask("/explain", asked)
    assert found["method"] == "erasure"
    assert found["decisions"][0]["label"] == "good"
    assert found["decisions"][0]["receipt"] is None
    assert any(
        note.startswith("Whether the label “good” rests on") for note in found["said"]["notes"]
    )
    said = server.ask("/explain", {**asked, "receipt": True})[2]["said"]
    assert "the answer" not in " ".join([said["conclusion"], *said["verdicts"]]).lower()


def test_each_of_several_labels_is_said_in_words(start, tags_folder, fitted_tags):
    text = "We saw the artword. Then the musicword was it."
    found = start(models={"tags": str(tags_folder)}).ask("/explain", {"text": text})[2]
    first, other = fitted_tags.explain(text).decisions
    assert [one["label"] for one in found["decisions"]] == [first.label, other.label]
    assert found["said"]["receipt"] == tell_receipt(first)
    assert [one["receipt"] for one in found["also_said"]] == [tell_receipt(other)]


def test_an_explanation_can_be_sent_as_a_page(server):
    _, headers, found = server.ask(
        "/explain", {"text": f"{TEXT} <script>x</script>", "format": "html"}
    )
    assert headers["content-disposition"].startswith("attachment")
    assert "dull" in " ".join(Page(found.decode()).texts)
    assert b"<script>x" not in found


@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        ("/predict", {"text": TEXT, "model": "reveiws"}, 400, "did you mean 'reviews'"),
        ("/explain", {"text": TEXT, "label": "goood"}, 400, "did you mean 'good'"),
        ("/explain", {"text": TEXT, "method": "erasur"}, 400, "did you mean 'erasure'"),
        ("/translate", {"text": TEXT}, 400, "no model here answers this"),
        ("/predict", {"text": "x" * 200_001}, 413, "at most 200,000 characters"),
        ("/batch", {"texts": ["x"] * 257}, 413, "at most 256 texts"),
        ("/predict", {}, 422, "text: Field required"),
        ("/predict", {"text": 3}, 422, "text: Input should be a valid string"),
        ("/predict", {"text": "x", "modle": "reviews"}, 422, "modle: Extra inputs"),
        ("/predict", b"{", 400, "no JSON"),
        ("/predict", b'{"\\ud800": "x", "text": ""}', 422, "unicode"),
        ("/predict", b'{"text": "x", "model": "\\ud800"}', 400, "no model"),
        ("/predict", b"[" * 100_000, 400, "the body is no JSON in UTF-8, or has too many levels"),
        ("/predict", b'{"text": "caf\xe9"}', 400, "no JSON in UTF-8"),
        ("/predict", {"text": TEXT, "model": ""}, 400, "there is no model ''"),
        ("/predict", {"text": "x", "without": [[0, 2]]}, 400, "inside the text"),
        ("/predict", {"text": "x", "without": [[1, 1]]}, 400, "inside the text"),
        ("/predict", {"text": "x", "without": [[-1, 1]]}, 400, "inside the text"),
        ("/predict", {"text": "x", "without": [[0, 10**30]]}, 400, "inside the text"),
        ("/predict", {"text": "x", "without": [[0]]}, 422, "without.0"),
        ("/predict", {"text": "x", "without": [["a", 1]]}, 422, "without.0"),
        ("/predict", {"text": "x", "without": [[0, 1]] * 10_001}, 422, "at most 10000 items"),
        ("/nothing", None, 404, "Not Found"),
        ("/predict", None, 405, "Method Not Allowed"),
    ],
)
def test_a_refusal_is_one_line_that_says_why(server, path, body, status, said):
    found, _, answer = server.ask(path, body)
    assert found == status
    assert said in answer["error"]
    assert "\n" not in answer["error"]
    assert "/" not in answer["error"].replace("/models", "")


def test_an_explanation_is_the_record_that_the_command_writes(server, fitted):
    """It is written another way than ``to_json`` has, and must not differ by a field."""
    _, _, found = server.ask("/explain", {"text": f"{TEXT} été \U0001f600", "receipt": False})
    record = json.loads(fitted.explain(f"{TEXT} été \U0001f600", receipt=False).to_json())

    def names(value):
        if isinstance(value, dict):
            return {name: names(one) for name, one in value.items()}
        return [names(value[0])] if isinstance(value, list) and value else None

    assert found.pop("model") and found.pop("said")
    assert found.pop("also_said") == []
    assert names(found) == names(record)
    assert found["source"] == record["source"]
    assert (
        found["decisions"][0]["weights"][0]["pieces"]
        == (record["decisions"][0]["weights"][0]["pieces"])
    )


def test_what_is_not_called_json_is_refused(server):
    status, _, found = server.ask(
        "/predict", {"text": TEXT}, headers={"content-type": "text/plain"}
    )
    assert (status, "content-type" in found["error"]) == (415, True)


@pytest.mark.parametrize(
    ("kind", "status"),
    [("Application/JSON", 422), ("application/a+json", 422), ("application/jsonx", 415)],
)
def test_what_is_called_json_is_told_what_is_wrong_with_it(server, kind, status):
    assert server.ask("/predict", {}, headers={"content-type": kind})[0] == status


def test_half_a_character_is_read_like_any_other(server):
    for path in ("/predict", "/explain"):
        assert server.ask(path, b'{"text": "dull \\ud800 film"}')[0] == 200


def test_models_are_listed_with_what_they_can_be_asked(server):
    (model,) = server.ask("/models")[2]["models"]
    assert model["name"] == "reviews"
    assert model["endpoints"] == ["explain", "predict"]
    assert model["labels"] == ["bad", "good"]
    assert model["default_method"] in model["methods"]


def test_the_numbers_of_the_server_are_counted(server):
    server.ask("/predict", {"text": TEXT})
    server.ask("/nothing/../../secret")
    found = server.ask("/metrics")[2].decode()
    assert 'regard_requests_total{path="/predict",status="200"}' in found
    assert 'regard_labels_total{label="bad",model="reviews"}' in found
    assert 'regard_batch_texts_bucket{endpoint="predict",le="1.0"}' in found
    assert "secret" not in found  # names of paths are ours: a stranger cannot make more of them


def test_the_description_shows_an_example_of_every_request(server):
    found = server.ask("/openapi.json")[2]
    assert {
        "/predict",
        "/batch",
        "/explain",
        "/translate",
        "/caption",
        "/models",
        "/health",
        "/metrics",
    } <= set(found["paths"])
    for name in ("Predict", "Batch", "Explain", "Translate", "Caption"):
        required = found["components"]["schemas"][name]["required"]
        shown = found["components"]["schemas"][name]["properties"]
        assert all(shown[field]["examples"] for field in required)


def test_marks_are_kept_and_taken_back(server):
    mark = {"text": TEXT, "start": 0, "end": 8, "kind": "reason", "label": "bad", "reader": "ada"}
    assert server.ask("/marks", mark)[0] == 200
    assert any(one["text"] == TEXT and one["reader"] == "ada" for one in server.ask("/marks")[2])
    server.ask("/marks", {**mark, "remove": True})
    assert not any(one["reader"] == "ada" for one in server.ask("/marks")[2])
    status, _, found = server.ask("/marks", {**mark, "end": 1000})
    assert (status, "no passage" in found["error"]) == (400, True)


def test_a_model_of_each_kind_is_asked_for_what_it_can(writers):
    found = {one["name"]: one for one in writers.ask("/models")[2]["models"]}
    assert {name: one["task"] for name, one in found.items()} == {
        "reviews": "classify",
        "parrot": "translate",
        "shapes": "caption",
    }
    assert found["shapes"]["endpoints"] == ["caption"]
    for path, body in {
        "/predict": {"text": "x", "model": "shapes"},
        "/explain": {"text": "x", "model": "parrot"},
        "/translate": {"text": "x", "model": "reviews"},
        "/caption": {"picture": encoded(picture()), "model": "reviews"},
    }.items():
        status, _, answer = writers.ask(path, body)
        assert (status, "is a model to" in answer["error"]) == (400, True)
        assert "asked to" in answer["error"]


def test_a_translation_says_where_its_pieces_looked(writers):
    status, _, found = writers.ask("/translate", {"text": "a b c", "n_best": 2, "receipt": True})
    assert (status, found["model"], len(found["translations"])) == (200, "parrot", 2)
    first = found["translations"][0]
    record = Alignment.from_json(json.dumps(first))
    assert record.source == "a b c" and record.receipt is not None
    assert first["said"]["looks"]
    assert len(first["said"]["losses"]) == len(record.receipt.written)
    _, headers, page = writers.ask("/translate", {"text": "a <b> c", "format": "html"})
    assert headers["content-disposition"].endswith('"translate.html"')
    assert b"<b> c" not in page


def encoded(content):
    return base64.b64encode(content).decode()


def picture(kind="PNG", size=(40, 30), **options):
    images = pytest.importorskip("PIL.Image", reason="no pillow")
    file = io.BytesIO()
    images.new("RGB", size, (200, 30, 30)).save(file, kind, **options)
    return file.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF"])
def test_a_picture_is_written_about(writers, kind):
    asked = {"picture": encoded(picture(kind)), "receipt": kind == "PNG"}
    status, _, found = writers.ask("/caption", asked)
    assert (status, found["model"]) == (200, "shapes")
    record = Caption.from_json(json.dumps(found))
    assert (record.width, record.height) == (40, 30) and record.picture
    assert (record.receipt is not None) == (kind == "PNG")
    assert len(found["said"]["places"]) == len(record.words)


def test_a_picture_is_written_about_while_its_model_is_replaced(captioner_folder, tmp_path):
    folder = shutil.copytree(captioner_folder, tmp_path / "shapes")
    shelf, app = Shelf(ServeSettings(models={"shapes": str(folder)})), FastAPI()
    shelf.load()
    _add_writers(app, shelf, Limits())
    (caption,) = [route.endpoint for route in app.routes if route.path == "/caption"]
    config = folder / "config.json"
    config.write_text(config.read_text(encoding="utf-8") + "\n", encoding="utf-8")

    async def run():
        # With one thread the picture is opened once the new version is there.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        replaced = asyncio.create_task(shelf.refresh("shapes"))
        await asyncio.sleep(0)
        answer = await caption(Asked(picture=encoded(picture())))
        assert await replaced
        await shelf.close()
        return answer

    assert json.loads(asyncio.run(run()).body)["model"] == "shapes"


def test_a_caption_can_be_sent_as_a_page(writers):
    asked = {"picture": encoded(picture()), "format": "html"}
    _, headers, found = writers.ask("/caption", asked)
    assert headers["content-disposition"].endswith('"caption.html"')
    assert b"data:image/jpeg;base64," in found


@pytest.mark.parametrize(
    ("sent", "status", "said"),
    [
        ("no base64!", 400, "base64"),
        ("\ud800", 400, "base64"),
        ("", 400, "no picture"),
        (encoded(b"no picture"), 400, "no picture"),
        (encoded(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n"), 400, "program"),
        (encoded(b"P6 9 9 255 " + bytes(243)), 400, "kind PPM"),
        (encoded(b"GIF89a\xff\xff\xff\xff\x00\x00\x00"), 4, ""),
        (3, 422, "picture: Input should be a valid string"),
    ],
)
def test_what_is_no_picture_is_refused(writers, sent, status, said):
    found, _, answer = writers.ask("/caption", json.dumps({"picture": sent}).encode())
    assert found // 10 ** (3 - len(str(status))) == status
    assert said in answer["error"]


def test_a_small_file_with_a_huge_picture_is_refused(writers):
    for size in ((6000, 5000), (20_000, 10_000)):
        images = pytest.importorskip("PIL.Image", reason="no pillow")
        file = io.BytesIO()
        images.new("1", size).save(file, "PNG")
        status, _, found = writers.ask("/caption", {"picture": encoded(file.getvalue())})
        assert status in (400, 413), found
        assert "pixels" in found["error"]


def test_a_picture_that_is_cut_off_is_refused(writers):
    whole = picture("PNG", (300, 300))
    status, _, found = writers.ask("/caption", {"picture": encoded(whole[: len(whole) // 2])})
    assert (status, found["error"][:8]) == (400, "picture:")


def test_a_worker_that_fails_ends_the_server_only_before_any_began(monkeypatch, tmp_path, capsys):
    """A folder may be away for a moment when a worker is started again; the others go on."""
    settings = ServeSettings(models={"reviews": str(tmp_path / "nowhere")})
    monkeypatch.setenv(SETTINGS_VARIABLE, settings.to_json())
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    with pytest.raises(SystemExit) as first:
        worker()
    assert first.value.code == STARTUP_FAILURE
    assert "nowhere" in (tmp_path / PROBLEM).read_text(encoding="utf-8")
    (tmp_path / PROBLEM).unlink()
    (tmp_path / STARTED).touch()
    with pytest.raises(SystemExit) as later:
        worker()
    assert later.value.code == 1
    assert capsys.readouterr().err.startswith("error: there is no folder")
    assert not (tmp_path / PROBLEM).exists()


def test_overload_is_refused_at_once_and_passes(start, model_folder):
    """Too many requests wait: they get 503 while others are answered, then all is as before."""
    limits = Limits(waiting=2)
    server = start(models={"reviews": str(model_folder)}, limits=limits)
    asked, found, refused_after = {"text": f"{TEXT} " * 60, "method": "lime"}, [], []

    def ask():
        began = time.perf_counter()
        status, headers, _ = server.ask("/explain", asked)
        found.append(status)
        if status == 503:
            assert headers["retry-after"] == "1"
            refused_after.append(time.perf_counter() - began)

    began = time.perf_counter()
    threads = [threading.Thread(target=ask) for _ in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(found) == {200, 503}
    assert min(refused_after) < (time.perf_counter() - began) / 2
    assert server.ask("/explain", asked)[0] == 200
    assert server.ask("/predict", {"text": TEXT})[0] == 200
