"""The endpoints of a server: what can be asked, and what is answered."""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import gc
import json
import os
import sys
from collections.abc import AsyncIterator, Sequence
from email.message import Message
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from .. import __version__
from ..data.marks import MarkStore
from ..data.pictures import PictureFile, measure_picture
from ..errors import RegardError
from ..explain.fitted import Question
from ..files import write_file
from ..records.marks import Mark
from .answers import add_fields, write_json
from .gathering import Busy
from .guard import Guard, refusal
from .metrics import FOLDER_VARIABLE, Metrics
from .page import POLICY, page, script, style
from .questions import (
    Batch,
    BatchAnswer,
    Caption,
    CaptionAnswer,
    Explain,
    Failure,
    Marking,
    ModelList,
    Predict,
    Prediction,
    Translate,
    TranslationAnswer,
)
from .run import PROBLEM, STARTED
from .settings import Limits, ServeSettings
from .shelf import Loaded, PictureToCaption, Shelf, TextToErase, TextToExplain, TextToTranslate

__all__ = ["SETTINGS_VARIABLE", "build_app", "build_worker", "worker"]

SETTINGS_VARIABLE = "REGARD_SERVE"
"""How the command hands its settings to the workers."""
REFUSALS: dict[int | str, dict[str, Any]] = {
    code: {"model": Failure, "description": said}
    for code, said in {
        400: "What was asked does not fit the model, or is no JSON.",
        401: "The key is missing or wrong.",
        403: "The request comes from another site.",
        408: "The request took too long to arrive.",
        413: "The request, the text, the picture or the batch is too large.",
        415: "The content type is not application/json.",
        422: "A field is missing, unknown or of the wrong type.",
        503: "Too many requests wait, or the answer took too long; try again.",
    }.items()
}


_UNREADABLE = "There was an error parsing the body"  # what FastAPI says of it
TURN = 0.0005
"""Seconds until a thread that computes lets the one that listens go on, where both want to."""
PICTURES = frozenset({"BMP", "GIF", "JPEG", "PNG", "TIFF", "WEBP"})
"""The kinds of pictures that strangers may send: others are rare, and less well guarded."""


def worker() -> Guard:
    """Make the app of one worker from what the command left in the environment.

    Where that fails before any worker began, all would fail alike: the whole server ends. Later the
    others go on, and whoever starts workers tries again.
    """
    from uvicorn.config import STARTUP_FAILURE

    folder = Path(os.environ[FOLDER_VARIABLE])
    try:
        app = build_worker(ServeSettings.from_json(os.environ[SETTINGS_VARIABLE]))
    except (RegardError, OSError) as problem:
        if (folder / STARTED).exists():
            print(f"error: {problem}", file=sys.stderr, flush=True)
            sys.exit(1)
        write_file(folder / PROBLEM, str(problem))
        sys.exit(STARTUP_FAILURE)
    (folder / STARTED).touch()
    return app


def build_worker(settings: ServeSettings) -> Guard:
    """Build the app in a process that does nothing else, and set the process to that."""
    app = build_app(settings)
    # By default the thread that listens would wait 5 ms for each turn beside one that computes.
    sys.setswitchinterval(TURN)
    # What is loaded by now stays: no use in looking through it for garbage, again and again.
    gc.collect()
    gc.freeze()
    return app


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
        summary="Labels, explanations with receipts, translations and captions.",
        docs_url=None,  # that page asks other hosts for its parts
        redoc_url=None,
        lifespan=live,
    )
    _add_refusals(app)
    _add_page(app, marks is not None)
    _add_state(app, shelf, metrics)
    _add_documents(app, shelf, settings.limits, metrics)
    _add_writers(app, shelf, settings.limits)
    if marks is not None:
        _add_marks(app, marks, settings.limits)
    return Guard(app, settings, metrics)


def _add_documents(app: FastAPI, shelf: Shelf, limits: Limits, metrics: Metrics) -> None:
    @app.post("/predict", responses=REFUSALS, response_model=Prediction)
    async def predict(asked: Predict) -> Response:
        """Label a text, or what is left of it without some spans."""
        _check_text(asked.text, limits)
        _check_spans(asked.without, asked.text)
        model = shelf.find(asked.model, "predict")
        wanted = TextToErase(asked.text, tuple(asked.without)) if asked.without else asked.text
        (found,) = await _answer(model, "predict", [wanted], limits)
        metrics.note_labels(model.name, found["labels"])
        return _json(write_json({"model": model.name, **found}))

    @app.post("/batch", responses=REFUSALS, response_model=BatchAnswer)
    async def batch(asked: Batch) -> Response:
        """Label several texts at once."""
        if len(asked.texts) > limits.batch_texts:
            raise HTTPException(413, f"a batch may have at most {limits.batch_texts:,} texts")
        for text in asked.texts:
            _check_text(text, limits)
        model = shelf.find(asked.model, "predict")
        found = await _answer(model, "predict", asked.texts, limits) if asked.texts else []
        for one in found:
            metrics.note_labels(model.name, one["labels"])
        answers = [{"model": model.name, **one} for one in found]
        return _json(write_json({"model": model.name, "answers": answers}))

    @app.post("/explain", responses=REFUSALS, response_class=JSONResponse)
    async def explain(asked: Explain) -> Response:
        """Explain the label of a text on its words and sentences, with a receipt.

        The JSON is that of ``regard explain --out x.json``, with ``model`` and ``said``: the same
        in plain sentences, about the first label; ``also_said`` has those about each further one.
        With ``format: html`` it is a page that needs nothing else.
        """
        _check_text(asked.text, limits)
        model = shelf.find(asked.model, "explain")
        question = Question(asked.method, asked.label, asked.against, asked.receipt)
        page = f"Explanation by {model.name}" if asked.format == "html" else None
        wanted = TextToExplain(asked.text, question, page)
        return await _written(model, "explain", wanted, limits)


def _add_writers(app: FastAPI, shelf: Shelf, limits: Limits) -> None:
    @app.post("/translate", responses=REFUSALS, response_model=TranslationAnswer)
    async def translate(asked: Translate) -> Response:
        """Translate a text, and say where each written piece looked.

        With ``format: html`` it is a page that needs nothing else.
        """
        _check_text(asked.text, limits)
        model = shelf.find(asked.model, "translate")
        page = f"Translation by {model.name}" if asked.format == "html" else None
        wanted = TextToTranslate(asked.text, asked.n_best, asked.receipt, page)
        return await _written(model, "translate", wanted, limits)

    @app.post("/caption", responses=REFUSALS, response_model=CaptionAnswer)
    async def caption(asked: Caption) -> Response:
        """Write about a picture, and say which cells of it each word looked at.

        The JSON is that of ``regard caption --out x.json``, with ``model`` and ``said``: the same
        in plain sentences. With ``format: html`` it is a page that needs nothing else.
        """
        shelf.find(asked.model, "caption")  # who asks for none that is here is told so at once
        picture = await asyncio.to_thread(_open_picture, asked.picture, limits)
        # Only now: while the picture was opened a new version may have taken the model's place.
        model = shelf.find(asked.model, "caption")
        page = f"Caption by {model.name}" if asked.format == "html" else None
        wanted = PictureToCaption(picture, asked.receipt, page)
        return await _written(model, "caption", wanted, limits)


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
        if not _is_json(request.headers.get("content-type", "")):
            return refuse(415, "send JSON, with the header content-type: application/json")
        first = problem.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part != "body")
        if first["type"] == "json_invalid":
            return refuse(400, "the body is no JSON")
        return refuse(422, f"{place[:200] or 'body'}: {first['msg']}")

    @app.exception_handler(HTTPException)
    async def refused(request: Request, problem: HTTPException) -> Response:
        headers = dict(problem.headers) if problem.headers else None
        if problem.detail == _UNREADABLE:
            return refuse(400, "the body is no JSON in UTF-8, or has too many levels")
        return refuse(problem.status_code, str(problem.detail), headers)

    @app.exception_handler(RegardError)
    async def unfit(request: Request, problem: RegardError) -> Response:
        return refuse(400, str(problem))

    @app.exception_handler(Busy)
    async def busy(request: Request, problem: Busy) -> Response:
        return refuse(503, "too many requests wait; try again in a second", {"retry-after": "1"})


def _is_json(kind: str) -> bool:
    """Whether a body of this content type is read as JSON."""
    message = Message()
    message["content-type"] = kind
    main, _, sub = message.get_content_type().partition("/")
    return main == "application" and (sub == "json" or sub.endswith("+json"))


async def _written(
    model: Loaded,
    endpoint: str,
    wanted: TextToExplain | TextToTranslate | PictureToCaption,
    limits: Limits,
) -> Response:
    """Let a model answer, and send what it wrote."""
    (written,) = await _answer(model, endpoint, [wanted], limits)
    if wanted.page is None:
        return _json(add_fields({"model": model.name}, written))
    headers = {"content-disposition": f'attachment; filename="{endpoint}.html"'}
    return Response(written, media_type="text/html", headers=headers)


async def _answer(
    model: Loaded, endpoint: str, questions: Sequence[Any], limits: Limits
) -> Sequence[Any]:
    try:
        async with asyncio.timeout(limits.seconds):
            return await model.queues[endpoint].ask(questions)
    except TimeoutError:
        said = f"no answer within {limits.seconds:g} seconds; try a shorter text, or again later"
        raise HTTPException(503, said, {"retry-after": "5"}) from None


def _check_text(text: str, limits: Limits) -> None:
    if len(text) > limits.text_characters:
        raise HTTPException(413, f"a text may have at most {limits.text_characters:,} characters")


def _check_spans(spans: Sequence[tuple[int, int]], text: str) -> None:
    if not all(0 <= start < end <= len(text) for start, end in spans):
        raise HTTPException(400, "each span must begin before it ends, and lie inside the text")


def _open_picture(written: str, limits: Limits) -> PictureFile:
    """Take a picture out of a request; its head says whether it can be read at all."""
    try:
        picture = PictureFile("picture", base64.b64decode(written, validate=True))
    except (binascii.Error, ValueError):
        raise HTTPException(400, "the picture is not written in base64") from None
    head = measure_picture(picture)
    if head.kind not in PICTURES:
        known = ", ".join(sorted(PICTURES))
        raise HTTPException(400, f"pictures of the kind {head.kind} are not read; send {known}")
    if head.width * head.height > limits.picture_pixels:
        most = f"a picture may have at most {limits.picture_pixels:,} pixels"
        raise HTTPException(413, f"{most}; this one has {head.width:,} by {head.height:,}")
    return picture


def _json(written: bytes) -> Response:
    return Response(written, media_type="application/json")
