"""What can be asked of a server and what it answers, as the OpenAPI description shows it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "Batch",
    "BatchAnswer",
    "Caption",
    "CaptionAnswer",
    "Explain",
    "Failure",
    "Marking",
    "ModelList",
    "Predict",
    "Prediction",
    "Translate",
    "TranslationAnswer",
]

_TEXT = "The story drags at first. The ending is superb."
Text = Annotated[str, Field(description="The text.", examples=[_TEXT])]
ModelName = Annotated[
    str | None,
    Field(description="Which model to ask, by its name in /models; else the first that can."),
]
Label = Annotated[str | None, Field(description="The label to explain; else the model's answer.")]
Format = Annotated[
    Literal["json", "html"], Field(description="JSON, or a whole page to send to others.")
]
Matters = Annotated[bool, Field(description="Measure whether what was looked at matters.")]
_PICTURE = (  # two by two pixels, as PNG
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEklEQVR4nGP4z8DAAMIM/4EUABn4Av7JmnVDAAAA"
    "AElFTkSuQmCC"
)


class _Strict(BaseModel):
    """A request: a field that is not known is an error, not ignored."""

    model_config = ConfigDict(extra="forbid", protected_namespaces=())


class Predict(_Strict):
    """One text to label."""

    text: Text
    without: Annotated[
        list[tuple[int, int]],
        Field(
            max_length=10_000,
            description="Spans of the text, from a character to the one behind the last: it is "
            "read as it is, and answered without the words in them.",
            examples=[[[0, 25]]],
        ),
    ] = []
    model: ModelName = None


class Batch(_Strict):
    """Several texts to label."""

    texts: Annotated[list[str], Field(description="The texts.", examples=[[_TEXT]])]
    model: ModelName = None


class Explain(_Strict):
    """One text whose label is to be explained."""

    text: Text
    model: ModelName = None
    method: Annotated[
        str, Field(description="How to explain; else as was measured to be best for the model.")
    ] = "default"
    label: Label = None
    against: Annotated[
        str | None, Field(description="The label to contrast it with, for the method contrast.")
    ] = None
    receipt: Annotated[bool, Field(description="Measure how faithful the explanation is.")] = True
    format: Format = "json"


class Translate(_Strict):
    """One text to translate."""

    text: Annotated[str, Field(description="The text.", examples=["Two dogs play in the snow."])]
    model: ModelName = None
    n_best: Annotated[int, Field(ge=1, le=16, description="How many translations.")] = 1
    receipt: Matters = False
    format: Format = "json"


class Caption(_Strict):
    """One picture to write about."""

    picture: Annotated[
        str,
        Field(
            description="The file of the picture, in base64: JPEG, PNG, GIF, WebP, BMP or TIFF.",
            examples=[_PICTURE],
            json_schema_extra={"contentEncoding": "base64"},
        ),
    ]
    model: ModelName = None
    receipt: Matters = False
    format: Format = "json"


class Marking(_Strict):
    """A passage that a reader calls the reason for a label, or beside the point."""

    text: Text
    start: Annotated[int, Field(ge=0, description="Where the passage begins.", examples=[26])]
    end: Annotated[int, Field(ge=1, description="Where it ends.", examples=[47])]
    kind: Literal["reason", "irrelevant"]
    label: Annotated[str, Field(description="The label it is about.", examples=["pos"])]
    model: Annotated[str, Field(description="Whose answer was read.")] = ""
    reader: Annotated[str, Field(max_length=200, description="Who marks it.")] = ""
    remove: Annotated[bool, Field(description="Take the mark back.")] = False


class Prediction(BaseModel):
    """The labels of a text: one, or for models of several all that hold."""

    model: str
    labels: list[str]
    probabilities: dict[str, float]


class BatchAnswer(BaseModel):
    """The answers to several texts, in their order."""

    model: str
    answers: list[Prediction]


class TranslationAnswer(BaseModel):
    """Translations, best first, each with where it looked: rows of weights that sum to one."""

    model: str
    translations: list[dict[str, object]]


class CaptionAnswer(BaseModel):
    """What was written about a picture, and where each word looked: rows that sum to one."""

    model: str
    text: str
    spans: list[tuple[int, int]]
    weights: list[list[float]]
    rows: int
    columns: int
    picture: Annotated[str, Field(description="A small JPEG file of the picture, in base64.")]
    said: dict[str, object]


class ModelList(BaseModel):
    """The models that can be asked."""

    models: list[dict[str, object]]


class Failure(BaseModel):
    """Why a request was refused, in a line."""

    error: str
