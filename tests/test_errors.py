"""Every error raised on purpose."""

import pickle

import pytest

from regard import errors
from regard.errors import MissingExtra, NotFittedError, RegardError, nearest, suggestion

KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, Exception) and kind is not RegardError
]


def test_one_base_catches_them_all():
    assert len(KINDS) == 6
    assert all(issubclass(kind, RegardError) for kind in KINDS)
    assert {kind.__name__ for kind in [*KINDS, RegardError]} | {"nearest", "suggestion"} == set(
        errors.__all__
    )


def test_the_tree_is_drawn_at_the_top():
    assert all(kind.__name__ in errors.__doc__ for kind in KINDS)


def test_they_are_also_the_errors_python_has_for_such_things():
    assert issubclass(errors.ConfigError, ValueError) and issubclass(errors.DataError, ValueError)
    assert issubclass(NotFittedError, ValueError) and issubclass(NotFittedError, AttributeError)
    assert issubclass(MissingExtra, ImportError)


def test_a_missing_package_is_named_with_how_to_get_it():
    error = MissingExtra("matplotlib", "plots", "drawing a picture")
    assert str(error) == (
        "drawing a picture needs matplotlib, which is not installed; "
        "run: pip install 'regard[plots]'"
    )


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not MissingExtra])
def test_they_travel_between_processes(kind):
    again = pickle.loads(pickle.dumps(kind("what was wrong")))
    assert type(again) is kind and str(again) == "what was wrong"


def test_the_nearest_name_is_suggested_or_all_are_listed():
    assert nearest("hiden", ["hidden", "epochs"]) == "hidden"
    assert nearest("zzz", ["hidden"]) is None
    assert nearest("a", []) is None
    assert suggestion("hiden", ["hidden", "epochs"]) == "did you mean 'hidden'?"
    assert suggestion("zzz", ["b", "a"]) == "there are a, b"
    assert suggestion("zzz", []) == "there are none"
