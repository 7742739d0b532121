"""``regard train``: from a file of labelled texts, or of pairs of texts, to a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..config import require_one_of
from ..errors import ConfigError
from .options import (
    Data,
    Device,
    Encoding,
    LabelsSeparator,
    OnBadRow,
    Quiet,
    SourceColumn,
    TargetColumn,
)
from .settings_file import ConfigFile, changes_of
from .tasks import TASKS, foreign_options
from .tasks.task import TrainingToDo
from .work_folder import require_out

__all__ = ["train"]

TextColumn = Annotated[str, typer.Option(help="The column that holds the text.")]
LabelColumn = Annotated[str, typer.Option(help="The column that holds the label.")]
Out = Annotated[Path, typer.Option(help="The folder to write the model to.")]
Task = Annotated[str, typer.Option(help="What to learn: {tasks}.")]
Validation = Annotated[
    str,
    typer.Option(
        metavar="FILE|FRACTION",
        help="Documents that say when to stop: a file or a share; never the test data.",
    ),
]
Test = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Warn of texts in it that are training texts too."),
]
GroupColumn = Annotated[
    str | None, typer.Option(help="Hold out whole groups, such as all texts of one author.")
]
TimeColumn = Annotated[str | None, typer.Option(help="Hold out the latest texts.")]
RecipeName = Annotated[
    str | None, typer.Option(help="How much time to spend: fast, balanced or accurate.")
]
Network = Annotated[str | None, typer.Option(help="The network, by a name below.")]
Epochs = Annotated[int | None, typer.Option(help="At most so many passes over the data.")]
Seed = Annotated[int | None, typer.Option(help="Same seed, same model.")]
Seeds = Annotated[
    int,
    typer.Option(min=1, help="Train so many networks, saved as one model that averages them."),
]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PART.NAME=VALUE",
        help="Change a setting of a part below: network.hidden_size=100.",
    ),
]
Vectors = Annotated[
    Path | None, typer.Option(help="Pretrained word vectors: GloVe, word2vec or fastText.")
]
Marks = Annotated[
    Path | None,
    typer.Option(help="What readers marked, as regard serve --marks keeps it: learn from it."),
]
EvidenceColumn = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN|none",
        help="What people marked as the reason for the label, to learn from it: a list of "
        "start_char, end_char. Found by itself where the column is called evidence.",
    ),
]
Unlabelled = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="More texts without labels, to learn word vectors from."),
]
BertFolder = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="A local BERT to start from; nothing is downloaded."),
]
Backbone = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="For captions: the weights of EfficientNet-Lite0."),
]
FeatureFolder = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="For captions: keep what the backbone finds, to reuse it."),
]
Resume = Annotated[bool, typer.Option("--resume", help="Continue a run that was ended.")]
Overwrite = Annotated[
    bool,
    typer.Option("--overwrite", help="Replace the model, or unfinished training, that is there."),
]
Baseline = Annotated[
    bool, typer.Option(help="Also fit TF-IDF with logistic regression, to compare with.")
]
Wide = Annotated[
    str, typer.Option(metavar="on|off", help="Whether n-grams are weighed beside the network.")
]
Logs = Annotated[Path | None, typer.Option(help="A folder for TensorBoard logs.")]


def train(
    context: typer.Context,
    data: Data,
    out: Out,
    config: ConfigFile = None,
    task: Task = "classify",
    text_column: TextColumn = "text",
    label_column: LabelColumn = "label",
    labels_separator: LabelsSeparator = None,
    source_column: SourceColumn = None,
    target_column: TargetColumn = None,
    validation: Validation = "0.1",
    test: Test = None,
    group_column: GroupColumn = None,
    time_column: TimeColumn = None,
    recipe: RecipeName = None,
    model: Network = None,
    epochs: Epochs = None,
    seed: Seed = None,
    seeds: Seeds = 1,
    changes: Changes = None,
    vectors: Vectors = None,
    unlabelled: Unlabelled = None,
    marks: Marks = None,
    evidence_column: EvidenceColumn = None,
    bert: BertFolder = None,
    backbone: Backbone = None,
    features: FeatureFolder = None,
    resume: Resume = False,
    overwrite: Overwrite = False,
    wide: Wide = "on",
    baseline: Baseline = True,
    logs: Logs = None,
    encoding: Encoding = None,
    on_bad_row: OnBadRow = "stop",
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Train a classifier, a translator, a captioner of pictures, or a BERT.

    Documents may be of any length and number; the model is saved as a folder.
    """
    require_one_of("--task", task, TASKS)
    foreign = foreign_options(TASKS[task], context)
    if foreign:
        other = next(name for name in TASKS if TASKS[name] in foreign.values())
        they = "it is" if len(foreign) == 1 else "they are"
        raise ConfigError(
            f"{' and '.join(foreign)} cannot be used with --task {task}; {they} for --task {other}"
        )
    require_out(out, resume=resume, overwrite=overwrite)
    TASKS[task].train(
        TrainingToDo(
            data=data,
            out=out,
            text_column=text_column,
            label_column=label_column,
            labels_separator=labels_separator,
            source_column=source_column,
            target_column=target_column,
            validation=validation,
            test=test,
            group_column=group_column,
            time_column=time_column,
            recipe=recipe,
            network=model,
            changes=[
                *changes_of(context),
                *(changes or ()),
                *_as_changes(epochs=epochs, seed=seed),
            ],
            vectors=vectors,
            unlabelled=unlabelled,
            marks=marks,
            evidence_column=evidence_column,
            bert=bert,
            backbone=backbone,
            features=features,
            resume=resume,
            overwrite=overwrite,
            wide=wide,
            baseline=baseline,
            logs=logs,
            encoding=encoding,
            on_bad_row=on_bad_row,
            device=device,
            quiet=quiet,
            seeds=seeds,
        )
    )


def _as_changes(**values: int | None) -> list[str]:
    """Settings of the training that have an option of their own, as ``--set`` would say them."""
    return [f"training.{name}={value}" for name, value in values.items() if value is not None]
