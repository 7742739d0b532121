"""Names that documents gave to users still work, with a warning, for one version."""

import importlib

import pytest


@pytest.mark.parametrize(
    ("former", "name", "now"),
    [
        ("report", "render", "evaluation.page.render"),
        ("scorecard", "summary", "evaluation.terminal.summary"),
        ("beside", "render", "explanation.page.render_beside"),
    ],
)
def test_a_former_name_gives_the_function_and_says_where_it_is(former, name, now):
    module = importlib.import_module(f"regard.views.{former}")
    place, _, function = now.rpartition(".")
    with pytest.warns(DeprecationWarning, match=rf"regard\.views\.{former}\.{name} is now"):
        found = getattr(module, name)
    assert found is getattr(importlib.import_module(f"regard.views.{place}"), function)
    with pytest.raises(AttributeError, match="has no attribute 'other'"):
        _ = module.other


@pytest.mark.parametrize("package", ["audit", "difference", "evaluation", "look"])
def test_each_record_of_many_documents_has_a_page_and_lines(package):
    module = importlib.import_module(f"regard.views.{package}")
    assert callable(module.render) and callable(module.summary)
