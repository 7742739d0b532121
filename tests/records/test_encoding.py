import json
from dataclasses import dataclass

import pytest

from regard.errors import DataError
from regard.records.encoding import decode, encode


@dataclass(frozen=True)
class Point:
    x: float
    y: float = 0.0


@dataclass(frozen=True)
class Shape:
    name: str
    points: tuple[Point, ...] = ()
    pair: tuple[str, int] | None = None
    grid: tuple[tuple[int, ...], ...] = ()
    centre: Point | None = None


FULL = Shape("a\ud800\x00b", (Point(1.0), Point(2.5, -1.0)), ("é", 3), ((1, 2), ()), Point(0.5))


@pytest.mark.parametrize("shape", [FULL, Shape("")])
def test_records_come_back_unchanged(shape):
    assert decode(Shape, encode(shape)) == shape


def test_fields_stand_at_the_top_level():
    assert json.loads(encode(Point(1.5, 2.0))) == {"x": 1.5, "y": 2.0}


def test_whole_numbers_become_the_fractions_they_stand_for():
    point = decode(Point, '{"x": 1}')
    assert isinstance(point.x, float)


def test_names_of_a_newer_version_are_left_out():
    assert decode(Point, '{"x": 1.0, "colour": "red"}') == Point(1.0)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("{", "not JSON"),
        ("[]", "JSON object"),
        ("{}", "lacks 'name'"),
        ('{"name": "", "points": 3}', "list was expected"),
        ('{"name": "", "pair": ["a"]}', "list of 2"),
    ],
)
def test_what_is_no_such_record_is_said(text, word):
    with pytest.raises(DataError, match=word):
        decode(Shape, text)


def test_numbers_that_json_cannot_hold_are_an_error():
    with pytest.raises(ValueError, match="JSON"):
        encode(Point(float("nan")))


@dataclass(frozen=True)
class Rows:
    spans: tuple[tuple[int, int], ...] = ()
    values: tuple[float, ...] = ()
    mixed: tuple[str | int, ...] = ()


def test_many_numbers_are_written_and_read_as_a_step_for_each_would():
    rows = Rows(((0, 1), (2, 5)), (0.1, 2.0, -0.0, 1e-300), ("a", 1))
    plain = {"spans": [[0, 1], [2, 5]], "values": [0.1, 2.0, -0.0, 1e-300], "mixed": ["a", 1]}
    assert encode(rows) == json.dumps(plain)
    back = decode(Rows, encode(rows))
    assert back == rows and all(type(span) is tuple for span in back.spans)
    whole = decode(Rows, '{"values": [1, 2.5]}')
    assert [type(value) for value in whole.values] == [float, float]


@pytest.mark.parametrize("spans", ["[[0, 1], [2]]", "[[0, 1, 2]]", "[1, 2]"])
def test_rows_that_do_not_fit_are_said(spans):
    with pytest.raises(DataError):
        decode(Rows, f'{{"spans": {spans}}}')


def test_a_number_that_json_cannot_hold_is_found_among_many():
    with pytest.raises(ValueError, match="JSON"):
        encode(Rows(values=(1.0, float("inf"))))
