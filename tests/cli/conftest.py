"""The command, run in this process through its real entry, and files for it to work on."""

import io
import json
import math
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import pytest

from regard.cli.main import main
from regard.training import observers
from support.cli_files import COLUMNS, rows, write_csv
from support.reviews import FLAGS, reviews


@dataclass
class Ran:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str

    @property
    def error(self):
        """The one line of an error that a user can make."""
        (line,) = self.err.splitlines()
        assert self.code == 1 and line.startswith("error: ") and not self.out
        return line.removeprefix("error: ")


def run(arguments, *, stdin=b""):
    """Run the command as the shell would; standard output and error are captured."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["regard", *map(str, arguments)])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8"))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        patch.setattr(warnings, "formatwarning", warnings.formatwarning)
        # What a command says must not depend on how slow the machine is today.
        patch.setattr(observers, "LONG", math.inf)
        with pytest.raises(SystemExit) as ended:
            main()
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())
    return Ran(ended.value.code or 0, *texts)


@pytest.fixture(scope="session")
def shell():
    """Return a function that runs ``regard`` with arguments."""
    return lambda *arguments, stdin=b"": run(arguments, stdin=stdin)


@dataclass(frozen=True)
class Project:
    """A folder as a user has it: data, and a model that was trained on them."""

    folder: Path
    training: Path
    test: Path
    new: Path
    model: Path
    printed: Ran


@pytest.fixture(scope="session")
def project(tmp_path_factory):
    """Train once from the shell; nobody may change the folder."""
    folder = tmp_path_factory.mktemp("project")
    training = write_csv(folder / "train.csv", rows(80, seed=0))
    test = write_csv(folder / "test.csv", rows(30, seed=1))
    new = folder / "new.jsonl"
    new.write_text(
        "".join(json.dumps({"id": n, "text": t}) + "\n" for n, t in enumerate(reviews(25)[0]))
    )
    model = folder / "model"
    printed = run(["train", training, *COLUMNS, *FLAGS, "--out", model])
    return Project(folder, training, test, new, model, printed)
