"""The endpoints of a server: what can be asked, and what is answered."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator, Sequence
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from .. import __version__
from ..data.marks import MarkStore
from ..errors import RegardError
from ..explain.fitted import Question
from ..records.explanation import Explanation
from ..records.marks import Mark
from ..views.explanation.page import render
from ..views.explanation.receipt import conclusion, tell_receipt, verdicts
from ..views.explanation.words import notes, tell_finding
from .gathering import Busy
from .guard import Guard, refusal
from .metrics import Metrics
from .page import POLICY, page, script, style
from .questions import (
    Batch,
    BatchAnswer,
    Explain,
    Failure,
    Marking,
    ModelList,
    Predict,
    Prediction,
    Translate,
    TranslationAnswer,
)
from .settings import Limits, ServeSettings
from .shelf import Loaded, Shelf, TextToExplain, TextToTranslate

__all__ = ["SETTINGS_VARIABLE", "build_app", "worker"]

SETTINGS_VARIABLE = "REGARD_SERVE"
"""How the command hands its settings to the workers."""
REFUSALS: dict[int | str, dict[str, Any]] = {
    code: {"model": Failure, "description": said}
    for code, said in {
        400: "What was asked does not fit the model, or is no JSON.",
        401: "The key is missing or wrong.",
        403: "The request comes from another site.",
        408: "The request took too long to arrive.",
        413: "The request, the text or the batch is too large.",
        415: "The content type is not application/json.",
        422: "A field is missing, unknown or of the wrong type.",
        503: "Too many requests wait, or the answer took too long; try again.",
    }.items()
}


def worker() -> Guard:
    """Make the app of one worker from what the command left in the environment."""
    return build_app(ServeSettings.from_json(os.environ[SETTINGS_VARIABLE]))


def build_app(settings: ServeSettings) -> Guard:
    """Load the models and return the whole server as one ASGI app."""
    metrics, shelf = Metrics(), Shelf(settings)
    shelf.load(metrics.watch)
    marks = None if settings.marks is None else MarkStore(settings.marks)

    @contextlib.asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:
        watching = asyncio.create_task(shelf.keep_fresh())
        yield
        watching.cancel()
        await shelf.close()

    app = FastAPI(
        title="regard",
        version=__version__,
        summary="Labels, explanations with receipts, and translations.",
        docs_url=None,  # that page asks other hosts for its parts
        redoc_url=None,
        lifespan=live,
    )
    _add_refusals(app)
    _add_page(app, marks is not None)
    _add_state(app, shelf, metrics)
    _add_documents(app, shelf, settings.limits, metrics)
    _add_translation(app, shelf, settings.limits)
    if marks is not None:
        _add_marks(app, marks, settings.limits)
    return Guard(app, settings, metrics)


def _add_documents(app: FastAPI, shelf: Shelf, limits: Limits, metrics: Metrics) -> None:
    @app.post("/predict", responses=REFUSALS)
    async def predict(asked: Predict) -> Prediction:
        """Label a text."""
        _check_text(asked.text, limits)
        model = shelf.find(asked.model, "predict")
        (found,) = await _answer(model, "predict", [asked.text], limits)
        metrics.note_labels(model.name, found["labels"])
        return Prediction(model=model.name, **found)

    @app.post("/batch", responses=REFUSALS)
    async def batch(asked: Batch) -> BatchAnswer:
        """Label several texts at once."""
        if len(asked.texts) > limits.batch_texts:
            raise HTTPException(413, f"a batch may have at most {limits.batch_texts:,} texts")
        for text in asked.texts:
            _check_text(text, limits)
        model = shelf.find(asked.model, "predict")
        found = await _answer(model, "predict", asked.texts, limits) if asked.texts else []
        for one in found:
            metrics.note_labels(model.name, one["labels"])
        answers = [Prediction(model=model.name, **one) for one in found]
        return BatchAnswer(model=model.name, answers=answers)

    @app.post("/explain", responses=REFUSALS, response_class=JSONResponse)
    async def explain(asked: Explain) -> Response:
        """Explain the label of a text on its words and sentences, with a receipt.

        The JSON is that of ``regard explain --out x.json``, with ``model`` and ``said``: the same
        in plain sentences. With ``format: html`` it is a page that needs nothing else.
        """
        _check_text(asked.text, limits)
        model = shelf.find(asked.model, "explain")
        question = Question(asked.method, asked.label, asked.against, asked.receipt)
        found: Explanation
        (found,) = await _answer(model, "explain", [TextToExplain(asked.text, question)], limits)
        if asked.format == "html":
            return _attachment(render([found], title=f"Explanation by {model.name}"))
        extra = json.dumps({"model": model.name, "said": _say(found)})
        return Response(f"{extra[:-1]}, {found.to_json()[1:]}", media_type="application/json")


def _add_translation(app: FastAPI, shelf: Shelf, limits: Limits) -> None:
    @app.post("/translate", responses=REFUSALS)
    async def translate(asked: Translate) -> TranslationAnswer:
        """Translate a text, and say where each written piece looked."""
        _check_text(asked.text, limits)
        model = shelf.find(asked.model, "translate")
        question = TextToTranslate(asked.text, asked.n_best, asked.receipt)
        (found,) = await _answer(model, "translate", [question], limits)
        written = [json.loads(one.to_json()) for one in found]
        return TranslationAnswer(model=model.name, translations=written)


def _add_state(app: FastAPI, shelf: Shelf, metrics: Metrics) -> None:
    @app.get("/models")
    async def models() -> ModelList:
        """List the models, and what each can be asked."""
        listed = [
            {
                "name": one.name,
                "task": one.task,
                "version": one.digest[:12],
                "endpoints": sorted(one.queues),
                **one.about,
                **({"problem": shelf.problems[one.name]} if one.name in shelf.problems else {}),
            }
            for one in shelf
        ]
        return ModelList(models=listed)

    @app.get("/health")
    async def health() -> dict[str, str]:
        """Say that the server lives and has loaded its models."""
        return {"status": "ok"}

    @app.get("/metrics", response_class=Response)
    async def numbers() -> Response:
        """Give the counts of this server as Prometheus reads them."""
        waiting: dict[str, int] = {}
        for one in shelf:
            for endpoint, queue in one.queues.items():
                waiting[endpoint] = waiting.get(endpoint, 0) + queue.waiting
        return Response(metrics.expose(waiting), media_type="text/plain; version=0.0.4")


def _add_marks(app: FastAPI, store: MarkStore, limits: Limits) -> None:
    @app.post("/marks", responses=REFUSALS)
    async def mark(asked: Marking) -> dict[str, str]:
        """Keep what a reader says of a passage; once this has answered, no crash loses it."""
        _check_text(asked.text, limits)
        made = Mark(**asked.model_dump(exclude={"remove"}))
        await asyncio.to_thread(store.remove if asked.remove else store.add, made)
        return {"status": "removed" if asked.remove else "kept"}

    @app.get("/marks")
    async def marks() -> list[dict[str, Any]]:
        """List all marks, oldest first."""
        return [json.loads(one.to_json()) for one in await asyncio.to_thread(store.read)]


def _add_page(app: FastAPI, marks: bool) -> None:
    @app.get("/", include_in_schema=False)
    async def index() -> Response:
        policy = {"content-security-policy": POLICY}
        return Response(page(marks=marks), media_type="text/html", headers=policy)

    @app.get("/page.css", include_in_schema=False)
    async def styles() -> Response:
        return Response(style(), media_type="text/css")

    @app.get("/page.js", include_in_schema=False)
    async def scripts() -> Response:
        return Response(script(), media_type="text/javascript")


def _add_refusals(app: FastAPI) -> None:
    """Every refusal is one line of JSON, and repeats nothing of what was sent."""

    def refuse(status: int, error: str, headers: dict[str, str] | None = None) -> Response:
        return Response(refusal(error), status, headers, media_type="application/json")

    @app.exception_handler(RequestValidationError)
    async def wrong(request: Request, problem: RequestValidationError) -> Response:
        if not request.headers.get("content-type", "").startswith("application/json"):
            return refuse(415, "send JSON, with the header content-type: application/json")
        first = problem.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part != "body")
        if first["type"] == "json_invalid":
            return refuse(400, "the body is no JSON")
        return refuse(422, f"{place[:200] or 'body'}: {first['msg']}")

    @app.exception_handler(HTTPException)
    async def refused(request: Request, problem: HTTPException) -> Response:
        headers = dict(problem.headers) if problem.headers else None
        return refuse(problem.status_code, str(problem.detail), headers)

    @app.exception_handler(RegardError)
    async def unfit(request: Request, problem: RegardError) -> Response:
        return refuse(400, str(problem))

    @app.exception_handler(Busy)
    async def busy(request: Request, problem: Busy) -> Response:
        return refuse(503, "too many requests wait; try again in a second", {"retry-after": "1"})


async def _answer(
    model: Loaded, endpoint: str, questions: Sequence[Any], limits: Limits
) -> Sequence[Any]:
    try:
        return await asyncio.wait_for(model.queues[endpoint].ask(questions), limits.seconds)
    except TimeoutError:
        said = f"no answer within {limits.seconds:g} seconds; try a shorter text, or again later"
        raise HTTPException(503, said, {"retry-after": "5"}) from None


def _check_text(text: str, limits: Limits) -> None:
    if len(text) > limits.text_characters:
        raise HTTPException(413, f"a text may have at most {limits.text_characters:,} characters")


def _say(found: Explanation) -> dict[str, object]:
    """What the explanation says, in plain sentences."""
    decision = found.decisions[0]
    receipt = decision.receipt
    return {
        "finding": tell_finding(decision),
        "notes": notes(found, decision),
        "conclusion": "" if receipt is None else conclusion(receipt),
        "verdicts": [] if receipt is None else [_sentence(*one) for one in verdicts(receipt)],
        "receipt": tell_receipt(decision),
    }


def _sentence(verdict: str, meant: str) -> str:
    return f"{verdict}. {meant[:1].upper()}{meant[1:]}"


def _attachment(html: str) -> Response:
    headers = {"content-disposition": 'attachment; filename="explanation.html"'}
    return Response(html, media_type="text/html", headers=headers)
