"""What a notebook shows of a record, in its own colours and without a request."""

import pytest

from regard.records.audit import Audit
from regard.records.history import Epoch, History
from support.evaluations import complete, evaluated
from support.looks import looked

HISTORY = History(
    (
        Epoch(1, 0.7, 0.004, 90, 2.0, {"loss": 0.6, "accuracy": 0.5}),
        Epoch(2, 0.5, 0.004, 90, 2.0, {"loss": 0.4, "accuracy": 0.9}),
    ),
    best_epoch=2,
)


@pytest.fixture(params=["evaluation", "look", "audit", "history"])
def record(request, explain):
    return {
        "evaluation": lambda: complete(evaluated()),
        "look": lambda: looked(explain("It was good.")),
        "audit": lambda: Audit(12, "erasure", ()),
        "history": lambda: HISTORY,
    }[request.param]()


def test_every_record_draws_itself(record):
    drawn = record._repr_html_()
    assert drawn.startswith("<style>") and drawn.count("<div") == drawn.count("</div>")
    assert 'class="rg-card"><p>' in drawn and "http" not in drawn.split("srcdoc=")[0]
    assert ("srcdoc" in drawn) == hasattr(record, "to_html")


def test_a_history_shows_each_epoch_and_which_was_kept():
    drawn = HISTORY._repr_html_()
    assert "the weights of epoch 2 were kept. It took 4 seconds." in drawn
    assert '<th scope="col">held-out accuracy</th>' in drawn
    assert '<tr class="rg-kept"><td>2</td><td>0.5000</td><td>0.4000</td><td>0.9000</td>' in drawn
    assert "<table>" not in History()._repr_html_()


@pytest.mark.parametrize(
    ("body", "dark"),
    [
        ('data-jp-theme-light="false"', True),
        ('data-jp-theme-light="true"', False),
        ('class="vscode-dark"', True),
        ('class="vscode-light"', False),
    ],
)
@pytest.mark.parametrize("system", ["light", "dark"])
def test_colours_are_those_of_the_notebook_whatever_the_system_has(
    open_html, explain, body, dark, system
):
    drawn = HISTORY._repr_html_() + explain("A fine text.")._repr_html_()
    page = open_html(f"<html><body {body}>{drawn}</body></html>", color_scheme=system)
    for kind in (".rg-card", ".regard"):
        ink = page.evaluate(f"getComputedStyle(document.querySelector('{kind}')).color")
        light_ink = sum(map(int, ink.strip("rgb()").split(","))) > 3 * 128
        assert light_ink == dark
