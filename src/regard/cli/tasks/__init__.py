"""What models are for: one file a task, and the table in which commands look it up.

A new task is a file with a ``Task`` in it and an entry of ``TASKS``.
"""

from __future__ import annotations

import os
from pathlib import Path

import typer

from ...errors import ConfigError
from .bert import BERT_TASKS
from .caption import CAPTION
from .classify import CLASSIFY
from .pretrain import PRETRAIN
from .task import Task, cannot
from .translate import TRANSLATE

__all__ = ["TASKS", "find_task", "foreign_options"]

TASKS: dict[str, Task] = {
    "classify": CLASSIFY,
    "translate": TRANSLATE,
    "caption": CAPTION,
    "pretrain": PRETRAIN,
    **BERT_TASKS,
}
"""Every task by the name that a saved model gives it."""


def find_task(model: Path, context: typer.Context) -> Task:
    """Return the task of a saved model.

    Raises ``ConfigError`` where the command, or an option that was given, is for other models, and
    where a file stands in the place of the model.
    """
    from ...estimators.folder import task_of

    _require_order(model, context)
    name, command = task_of(model), context.info_name or ""
    if name not in TASKS:
        raise ConfigError(f"{model} holds a model for the task {name!r}; upgrade regard")
    task = TASKS[name]
    holds = f"{model} holds a {task.noun}"
    if command in task.instead or getattr(task, command, None) is cannot:
        hint = task.instead.get(command, "regard info says what it is")
        raise ConfigError(f"{holds}, which regard {command} does not take; {hint}")
    foreign = foreign_options(task, context)
    for other in TASKS.values():
        names = [name for name in foreign if foreign[name] is other]
        if names:
            are = "is" if len(names) == 1 else "are"
            raise ConfigError(f"{' and '.join(names)} {are} for {other.noun}s; {holds}")
    return task


def _require_order(model: Path, context: typer.Context) -> None:
    """Raise ``ConfigError`` where a model and a file are given the wrong way round."""
    from ...estimators.folder import is_model

    if not os.path.isfile(model):  # a Path raises where a name is too long
        return
    arguments = [known for known in context.command.params if known.param_type_name == "argument"]
    for other in arguments:
        given = context.params[str(other.name)]
        if given is not None and os.path.isdir(given) and is_model(Path(given)):
            order = " ".join(str(known.metavar) for known in arguments)
            raise ConfigError(
                f"{model} is a file and {given} a saved model: they are the wrong way round; "
                f"it is regard {context.info_name} {order}"
            )


def foreign_options(task: Task, context: typer.Context) -> dict[str, Task]:
    """Return the options that were given and mean nothing to a task, with the one they are for."""
    command = context.info_name or ""
    own = task.options.get(command, ())
    found: dict[str, Task] = {}
    for other in TASKS.values():
        for option in other.options.get(command, ()):
            if option not in own and _is_given(context, option):
                found.setdefault(f"--{option.replace('_', '-')}", other)
    return found


def _is_given(context: typer.Context, option: str) -> bool:
    """Whether an option is other than usual; one that may be given again is an empty list then."""
    usual = next(known.default for known in context.command.params if known.name == option)
    return (context.params[option] or None) != (usual or None)
