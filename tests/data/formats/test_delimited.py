"""CSV as programs and people write it; compared with Python's own csv where that is right."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.columns import Columns, Ignored, Row
from regard.data.formats.delimited import delimited_rows
from regard.data.formats.lines import Dialect
from regard.errors import DataError
from regard.records.data import BadRow


class Given:
    """Lines of a text, all of them decoded."""

    def __init__(self, text, name="reviews.csv"):
        self.name = name
        self.text = text

    def __iter__(self):
        return ((line, None) for line in io.StringIO(self.text, newline="\n"))


def rows(content, name="reviews.csv", **columns):
    found = delimited_rows(Given(content, name), Columns(**columns))
    return [row for row in found if not isinstance(row, Dialect)]


def values(content, **columns):
    return [tuple(row.values.values()) for row in rows(content, **columns) if isinstance(row, Row)]


def bad(text, **columns):
    return [row for row in rows(text, **columns) if isinstance(row, BadRow)]


cells = st.text(st.sampled_from("ab \",;\n\r\t\0é\U0001f600|'") | st.characters(codec="utf-8"))


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(cells, st.sampled_from(["pos", "neg"]), cells), max_size=6),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_what_the_csv_module_writes_is_read_back(table, delimiter, end):
    """Quotes, separators, line ends and NULs inside quoted fields survive unaltered."""
    written = io.StringIO(newline="")
    writer = csv.writer(written, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerow(["text", "label", "other"])
    writer.writerows(table)
    assert values(written.getvalue()) == table


def test_a_row_has_the_line_on_which_it_begins():
    found = rows('text,label\n"one\ntwo\n\nthree",pos\nfour,neg\n')
    assert [row.line for row in found] == [2, 6]
    assert found[0].values["text"] == "one\ntwo\n\nthree"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_separator_is_found_in_the_header(delimiter):
    text = f"id{delimiter}text{delimiter}label\n1{delimiter}a b{delimiter}pos\n"
    assert values(text) == [("1", "a b", "pos")]


def test_a_separator_inside_a_column_name_does_not_mislead():
    assert values('"text";"label";"a,b,c,d,e"\nx;y;z\n') == [("x", "y", "z")]


def test_excel_may_name_the_separator_in_the_first_line():
    assert values("sep=|\ntext|label\na;b,c|pos\n") == [("a;b,c", "pos")]


def test_a_given_separator_and_a_tsv_suffix_decide():
    assert values("text;x,label\na;b,pos\n", text="text;x", delimiter=",") == [("a;b", "pos")]
    found = rows("text\tlabel\na,b,c\tpos\n", "reviews.tsv.gz")
    assert found[0].values == {"text": "a,b,c", "label": "pos"}


def test_separators_at_the_end_of_lines_are_no_columns():
    """As Excel leaves them when a column was emptied."""
    assert values("text,label,,\na,pos,,\nb,neg\nc,pos,,,,\n") == [
        ("a", "pos"),
        ("b", "neg"),
        ("c", "pos"),
    ]


def test_blank_lines_and_rows_of_nothing_are_passed_over_and_counted():
    found = rows("text,label\n\na,pos\r\n\r\n,,\n")
    assert [type(row) for row in found] == [Ignored, Row, Ignored, Ignored]


def test_an_empty_text_alone_in_its_row_is_told_from_a_blank_line():
    found = rows('text\n""\n\na\n', label=None)
    assert [type(row) for row in found] == [Row, Ignored, Row]


def test_a_row_with_too_many_or_too_few_fields_is_bad_and_the_rest_is_read():
    text = "text,label\na,pos\nhello, world,neg\nb\nc,neg\n"
    assert [(row.line, row.fault) for row in bad(text)] == [
        (3, "wrong number of fields"),
        (4, "wrong number of fields"),
    ]
    assert "3 fields where the header has 2" in bad(text)[0].reason
    assert values(text) == [("a", "pos"), ("c", "neg")]


def test_text_behind_a_closing_quote_is_broken_quoting():
    text = 'text,label\n"he said "hi" to me",pos\n"a",neg\n'
    assert [(row.line, row.fault) for row in bad(text)] == [(2, "broken quoting")]
    assert "'hi\" to me\",pos'" in bad(text)[0].reason
    assert values(text) == [("a", "neg")]


def test_a_quote_that_is_never_closed_costs_one_row():
    text = 'text,label\na,pos\n"b,neg\nc,pos\nd,neg\n'
    assert [(row.line, row.fault) for row in bad(text)] == [(3, "broken quoting")]
    assert values(text) == [("a", "pos"), ("c", "pos"), ("d", "neg")]


def test_an_unclosed_quote_that_meets_the_next_opening_one_costs_one_row():
    text = 'text,label\n"b,neg\n"c",pos\n"d",neg\n'
    assert [row.line for row in bad(text)] == [2]
    assert values(text) == [("c", "pos"), ("d", "neg")]


def test_many_broken_rows_take_time_in_proportion():
    """Each is given up where the next begins, not at the end of the file."""
    text = "text,label\n" + '"broken,pos\n' * 20_000
    assert len(bad(text)) == 20_000


def test_a_quote_inside_an_unquoted_field_is_a_quote():
    assert values('text,label\na 5" disc,pos\n') == [('a 5" disc', "pos")]


def test_one_very_long_field_of_many_lines_is_one_row():
    long = 'a ""line""\n' * 100_000
    (row,) = rows(f'text,label\n"{long}",pos\n')
    assert row.values["text"] == long.replace('""', '"')


def test_a_quoted_field_without_an_end_is_given_up_after_some_megabytes(monkeypatch):
    monkeypatch.setattr("regard.data.formats.delimited.LONGEST_ROW", 1 << 20)
    text = 'text,label\n"b,neg\n' + "c,pos\n" * 200_000
    (row,) = bad(text)
    assert row.line == 2 and row.reason == "a quoted field is never closed within 1 MiB"
    assert len(values(text)) == 200_000


def test_names_that_occur_twice_are_kept_apart():
    (row,) = rows("text,label,note,note,\na,pos,x,y,\n")
    assert row.values == {"text": "a", "label": "pos", "note": "x", "note (4)": "y"}


def test_an_unnamed_column_is_called_by_its_number():
    (row,) = rows(",text,label\n0,a,pos\n")
    assert row.values["column 1"] == "0"


def test_two_text_columns_are_an_error():
    with pytest.raises(DataError, match="has 2 columns named 'text'; rename all but one"):
        rows("text,text,label\na,b,pos\n")


def test_a_missing_column_is_an_error_that_lists_those_there_are():
    with pytest.raises(DataError) as problem:
        rows("stars,review\n5,good\n")
    assert str(problem.value) == (
        "reviews.csv has no column 'text'; it has stars, review; use --text-column"
    )
    with pytest.raises(DataError, match="no column 'label'; it has text, x; use --label-column"):
        rows("text;x\na;b\n")


def test_an_empty_file_is_an_error_and_a_header_alone_is_not():
    with pytest.raises(DataError, match=r"reviews\.csv is empty; its first line must name"):
        rows("")
    assert rows("text,label\n") == rows("text,label") == []


def test_a_header_with_broken_quotes_is_an_error_with_its_line():
    with pytest.raises(DataError, match=r"reviews\.csv:1: a quoted field is never closed"):
        rows('"text,label\na,b\n', delimiter=",")
