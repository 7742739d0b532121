"""What each endpoint answers, and how it refuses."""

import json
import threading

import pytest

from regard.records.explanation import Explanation
from support.pages import Page

TEXT = "the film was dull and the story was awful. then we saw the evening."


def test_predict_gives_what_the_model_gives(server, fitted):
    status, _, found = server.ask("/predict", {"text": TEXT})
    assert status == 200
    assert found["model"] == "reviews"
    assert found["labels"] == fitted.predict([TEXT]).tolist()
    likely = dict(zip(fitted.classes_.tolist(), fitted.predict_proba([TEXT])[0], strict=True))
    assert found["probabilities"] == pytest.approx(likely, abs=1e-6)


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
        ("/predict", b"[" * 100_000, 400, ""),
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


def test_what_is_not_called_json_is_refused(server):
    status, _, found = server.ask(
        "/predict", {"text": TEXT}, headers={"content-type": "text/plain"}
    )
    assert (status, "content-type" in found["error"]) == (415, True)


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
        "/models",
        "/health",
        "/metrics",
    } <= set(found["paths"])
    for name in ("Predict", "Batch", "Explain", "Translate"):
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
