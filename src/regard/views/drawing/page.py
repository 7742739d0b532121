"""What every page we write is made of: one file, no outside requests, light and dark."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

from .colours import DARK, LIGHT, PRINT, Theme, hexadecimal

__all__ = [
    "TableCell",
    "asset",
    "contents",
    "definitions",
    "escape",
    "link_documents",
    "numbers",
    "page",
    "report",
    "section",
    "summarise",
    "table",
    "themed",
]

# Code points that no HTML file can hold: NUL, and surrogates without their other half.
_UNWRITABLE = re.compile("[\x00\ud800-\udfff]")

_SCROLL_FROM = 30  # rows; a longer table scrolls under its head

_STYLES = """
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 64rem; margin: 0 auto; padding: 2.5rem 1.5rem 4rem; }
h1, h2, h3 { line-height: 1.25; text-wrap: balance; }
h1 { font-size: 1.75rem; margin: 0 0 .5rem; letter-spacing: -.01em; }
h2 { font-size: 1.2rem; margin: 2.75rem 0 .25rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
a { color: var(--blue); }
:focus-visible { outline: 2px solid var(--blue); outline-offset: 2px; border-radius: 2px; }
"""


def _variables(theme: Theme) -> str:
    """The colours of a page as its style sheets call them."""
    named = {
        "paper": theme.paper,
        "panel": theme.panel,
        "ink": theme.ink,
        "muted": theme.muted,
        "line": theme.line,
        "blue": theme.sentence,
        "orange": theme.mark,
    }
    found = [f"--{name}: {hexadecimal(colour)}" for name, colour in named.items()]
    # With a strength of its own a colour is written as three numbers.
    for name in ("blue", "orange"):
        found.append(f"--{name}-rgb: {', '.join(map(str, named[name]))}")
    return "; ".join(found)


_COLOURS = f"""
:root {{ color-scheme: light dark; {_variables(LIGHT)}; }}
@media (prefers-color-scheme: dark) {{ :root {{ {_variables(DARK)}; }} }}
@media print {{ :root {{ color-scheme: light; {_variables(PRINT)}; }}
  * {{ print-color-adjust: exact; -webkit-print-color-adjust: exact; }} }}
"""


_LIGHT_NOTEBOOKS = ('[data-jp-theme-light="true"]', ".vscode-light", 'html[theme="light"]')
_DARK_NOTEBOOKS = ('[data-jp-theme-light="false"]', ".vscode-dark", 'html[theme="dark"]')
"""How Jupyter, VS Code and Colab say what they look like."""


def themed(selector: str, light: str, dark: str) -> str:
    """Return rules that are light or dark as the notebook is, elsewhere as the system is."""
    light, dark = f"{light};color-scheme:light", f"{dark};color-scheme:dark"
    return (
        f"{selector}{{{light}}}"
        f"@media screen and (prefers-color-scheme:dark){{{selector}{{{dark}}}}}"
        f"{','.join(f'{within} {selector}' for within in _LIGHT_NOTEBOOKS)}{{{light}}}"
        f"{','.join(f'{within} {selector}' for within in _DARK_NOTEBOOKS)}{{{dark}}}"
    )


def escape(value: object) -> str:
    """Return ``value`` as text that is safe between tags and inside quoted attributes.

    A NUL or a lone surrogate, which a file of HTML cannot hold, becomes U+FFFD.
    """
    return _UNWRITABLE.sub("\ufffd", html.escape(str(value), quote=True))


def page(title: str, body: str, *, styles: str = "", scripts: str = "") -> str:
    """Put ``body``, which is HTML already, into a whole page; ``title`` is plain text.

    The policy in the head forbids every request, and every script but ``scripts`` itself.
    """
    allowed = f"'sha256-{_digest(scripts)}'" if scripts else "'none'"
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {allowed}; "
        "base-uri 'none'; form-action 'none'"
    )
    script = f"<script>{scripts}</script>\n" if scripts else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_COLOURS}{_STYLES}{styles}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n{script}</body>\n</html>\n"
    )


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def asset(name: str) -> str:
    """Return the text of a style sheet or script that comes with the package."""
    return resources.files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def report(
    title: str,
    head: str,
    sections: Mapping[str, str],
    *,
    foot: str = "",
    styles: str = "",
    scripts: str = "",
) -> str:
    """Return a page of sections, each linked to from the top; those without a body are left out.

    Everything but the title and the names of the sections is HTML already.
    """
    drawn = {name: body for name, body in sections.items() if body}
    body = [
        f"<header><h1>{escape(title)}</h1>{head}{contents(list(drawn))}</header>",
        *(section(name, body) for name, body in drawn.items()),
        *([foot] if foot else []),
    ]
    return page(title, "\n".join(body), styles=styles, scripts=scripts)


def summarise(sentences: Sequence[str]) -> str:
    """Return the summary at the top of a page: the first sentence leads, then a line for each."""
    first, *rest = sentences
    told = "".join(f"<p>{escape(line)}</p>" for line in rest)
    return f'<div class="summary"><p class="lead">{escape(first)}</p>{told}</div>'


def contents(names: Sequence[str]) -> str:
    """Return links to the sections of a page, by their names."""
    links = "".join(f'<a href="#{_anchor(name)}">{escape(name)}</a>' for name in names)
    return f'<nav aria-label="Sections">{links}</nav>'


def link_documents(entries: Sequence[tuple[str, str]]) -> str:
    """Return a list of the documents of a page, where there are several.

    Of each the HTML that is its link, and what stands behind it.
    """
    if len(entries) < 2:
        return ""
    links = "".join(
        f'<li><a href="#document-{number}"><bdi>{link}</bdi></a>{behind}</li>'
        for number, (link, behind) in enumerate(entries, start=1)
    )
    return f'<ol class="rg-index">{links}</ol>'


def section(name: str, body: str) -> str:
    """Return ``body``, which is HTML already, under a heading that can be linked to."""
    anchor = _anchor(name)
    return (
        f'<section id="{anchor}" aria-labelledby="{anchor}-head">'
        f'<h2 id="{anchor}-head">{escape(name)}</h2>{body}</section>'
    )


def _anchor(name: str) -> str:
    return name.lower().replace(" ", "-")


@dataclass(frozen=True, slots=True)
class TableCell:
    """What a cell shows, and the number it is sorted by; ``share`` draws a bar behind it."""

    text: str
    number: float | None = None
    share: float | None = None


def table(heads: Sequence[str], rows: Sequence[Sequence[TableCell]], *, caption: str) -> str:
    """Return a table whose first column names the rows; each head is a button that sorts."""
    head = "".join(
        f'<th scope="col"><button type="button">{escape(text)}</button></th>' for text in heads
    )
    body = "".join(
        f"<tr>{''.join(_cell(cell, first=not place) for place, cell in enumerate(row))}</tr>"
        for row in rows
    )
    whole = (
        f'<table class="sortable"><caption>{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
    tall = " tall" if len(rows) > _SCROLL_FROM else ""
    return (
        f'<div class="scroll{tall}" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f"{whole}</div>"
    )


def numbers(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the numbers of a chart, folded away, for those who would rather read them."""
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows
    )
    return (
        "<details><summary>The numbers</summary>"
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        "</div></details>"
    )


def _cell(cell: TableCell, *, first: bool) -> str:
    sort = "" if cell.number is None else f' data-number="{cell.number:.9g}"'
    if first:
        return f'<th scope="row"{sort} dir="auto">{escape(cell.text)}</th>'
    bar = "" if cell.share is None else f' style="--share:{100 * cell.share:.1f}%"'
    kind = "" if cell.share is None else ' class="bar"'
    return f"<td{kind}{bar}{sort}>{escape(cell.text)}</td>"


def definitions(pairs: Sequence[tuple[str, str]], kind: str) -> str:
    """Return names with what they mean as a list of the CSS class ``kind``."""
    if not pairs:
        return ""
    body = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(text)}</dd></div>" for name, text in pairs
    )
    return f'<dl class="{kind}">{body}</dl>'
