"""Pages of the site that are made, not written: the tutorial from its notebook, the commands.

MkDocs calls ``on_files`` before it builds, see ``mkdocs.yml``.
"""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def on_files(files: Any, config: Any) -> Any:
    """Add the made pages to those that are written."""
    from mkdocs.structure.files import File

    made = {"tutorial.md": tutorial(), "reference/commands.md": commands()}
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    return files


def tutorial() -> str:
    """The notebook as a page: its texts, its code, and what it printed if it was run."""
    notebook = json.loads((ROOT / "docs" / "tutorial.ipynb").read_text(encoding="utf-8"))
    parts = []
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(text)
        else:
            parts.append(f"```python\n{text}\n```")
            parts += [_output(one) for one in cell.get("outputs", ())]
    where = "This page is the notebook `docs/tutorial.ipynb`; open it in Jupyter to run it."
    return "\n\n".join([*parts, "---", where]) + "\n"


def _output(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    if "text/html" in data:
        page = html.escape("".join(data["text/html"]), quote=True).replace("\n", "&#10;")
        return f'<iframe class="record" sandbox="allow-scripts" srcdoc="{page}"></iframe>'
    text = "".join(output.get("text", data.get("text/plain", "")))
    return f"```text\n{text.rstrip()}\n```"


def commands() -> str:
    """Every command with its help, as the shell prints it."""
    from typer.main import get_command
    from typer.testing import CliRunner

    from regard.cli.main import app

    runner, parts = CliRunner(), ["# Commands", "What `regard COMMAND --help` prints."]
    for name in get_command(app).commands:  # type: ignore[attr-defined]
        told = runner.invoke(app, [name, "--help"], prog_name="regard").output
        parts += [f"## regard {name}", f"```text\n{told.rstrip()}\n```"]
    return "\n\n".join(parts) + "\n"
