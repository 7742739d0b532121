"""What models are for: one file a task, and the table in which commands look it up.

A new task is a file with a ``Task`` in it and an entry of ``TASKS``.
"""

from __future__ import annotations

from pathlib import Path

import typer

from ...errors import ConfigError
from .classify import CLASSIFY
from .task import Task
from .translate import TRANSLATE

__all__ = ["TASKS", "find_task"]

TASKS: dict[str, Task] = {"classify": CLASSIFY, "translate": TRANSLATE}
"""Every task by the name that a saved model gives it."""


def find_task(model: Path, context: typer.Context) -> Task:
    """Return the task of a saved model.

    Raises ``ConfigError`` where the command, or an option that was given, is for other models.
    """
    from ...estimators.folder import task_of

    name, command = task_of(model), context.info_name or ""
    if name not in TASKS:
        raise ConfigError(f"{model} holds a model for the task {name!r}; upgrade regard")
    task = TASKS[name]
    holds = f"{model} holds a {task.noun}"
    if command in task.instead:
        raise ConfigError(f"{holds}, which regard {command} does not take; {task.instead[command]}")
    for other in TASKS.values():
        foreign = [
            f"--{option.replace('_', '-')}"
            for option in other.options.get(command, ())
            if other is not task and context.params[option] != _usual(context, option)
        ]
        if foreign:
            are = "is" if len(foreign) == 1 else "are"
            raise ConfigError(f"{' and '.join(foreign)} {are} for {other.noun}s; {holds}")
    return task


def _usual(context: typer.Context, option: str) -> object:
    """What an option is when it is not given."""
    return next(known.default for known in context.command.params if known.name == option)
