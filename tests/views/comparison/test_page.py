"""The page of a comparison, its picture and its lines: all models, escaped, nothing fetched."""

import re

from regard.views.comparison.layout import lay_out
from regard.views.comparison.page import render
from regard.views.comparison.picture import write_picture
from regard.views.comparison.terminal import summary
from support.comparisons import compared, standing, usual


def test_the_page_shows_every_model_escaped_and_fetches_nothing():
    page = render(usual())
    assert "regard &lt;b&gt;" in page and "<b>" not in page
    assert "TF-IDF &amp; linear" in page and "the extra is not installed" in page
    assert not re.search(r'(src|href)="(?!#)', page) and "http" not in page.split("</head>")[1]


def test_the_better_stands_higher_the_quicker_further_right_the_larger_larger():
    found = {one.standing.name: one for one in lay_out(usual()).bubbles}
    ours, linear, flat = (found[name] for name in ("ours", "linear", "flat"))
    assert ours.y < linear.y < flat.y
    assert linear.x > ours.x == flat.x
    assert ours.radius > linear.radius
    assert flat.level > ours.level


def test_a_model_far_below_does_not_press_all_others_onto_one_line():
    layout = lay_out(usual())
    assert [one.name for one in layout.below] == ["constant"]
    assert "Far below, not drawn: constant, 50.0 %" in render(usual())


def test_most_models_are_drawn_however_far_below_they_are():
    weak = [standing(f"weak {place}", 0.6 + 0.01 * place) for place in range(4)]
    found = lay_out(compared(*weak, standing("ours", 0.91, ours=True), standing("near", 0.9)))
    assert found.below == () and len(found.bubbles) == 6


def test_names_cover_no_other_name():
    many = [standing(f"model {place}", 0.9 + 0.0005 * place) for place in range(8)]
    layout = lay_out(compared(*many, standing("ours", 0.91, ours=True)))
    labels = sorted((one.label, len(one.standing.title)) for one in layout.bubbles)
    for place, ((x, y), width) in enumerate(labels):
        for (other_x, other_y), _ in labels[place + 1 :]:
            assert abs(y - other_y) >= 10 or other_x >= x + 5 * width


def test_the_picture_is_the_same_bytes_each_time(tmp_path):
    for name in ("one.png", "two.png"):
        write_picture(usual(), tmp_path / name)
    first = (tmp_path / "one.png").read_bytes()
    assert first.startswith(b"\x89PNG") and first == (tmp_path / "two.png").read_bytes()


def test_the_terminal_has_a_line_for_each_and_the_best_first():
    lines = summary(usual())
    assert [line.split("  ")[0] for line in lines[:5]] == [
        "model",
        "regard <b>",
        "TF-IDF & linear",
        "flat",
        "constant",
    ]
    assert len({len(line) for line in lines[:5]}) == 1
    assert any(line.startswith("- Where regard <b> is weak") for line in lines)


def test_nothing_in_a_name_steers_the_terminal():
    bad = standing("ours", 0.9, ours=True, title="a\x1b[31m\nb")
    lines = summary(compared(bad, standing("other", 0.8)))
    assert not any("\x1b" in line or "\n" in line for line in lines)
