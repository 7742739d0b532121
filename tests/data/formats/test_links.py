"""Lines of links, in the format of Pharaoh."""

import pytest

from regard.data.formats.links import parse_links, read_links
from regard.errors import DataError


def test_sure_and_possible_links_are_told_apart():
    """002-15: the format of gold alignments."""
    found = parse_links("0-0  1?2\t12-3\n")
    assert found.sure == {(0, 0), (12, 3)}
    assert found.possible == {(0, 0), (12, 3), (1, 2)}
    assert parse_links(" \n").possible == set()


@pytest.mark.parametrize("line", ["0-0 1", "1-", "a-b", "1:2", "-1-2", "٣-٢", "1-2-3"])
def test_what_is_no_link_is_an_error(line):
    with pytest.raises(DataError, match="is no link; write 3-2 for a sure one"):
        parse_links(line)


def test_a_file_has_a_line_for_each_pair(tmp_path):
    path = tmp_path / "gold.txt"
    path.write_text("0-0\n\n1?1 0-1\n")
    assert [len(links.possible) for links in read_links(path)] == [1, 0, 2]
    path.write_text("0-0\n1=1\n")
    with pytest.raises(DataError, match=r"gold\.txt:2: '1=1' is no link"):
        list(read_links(path))
    path.write_bytes(b"0-0\n\xff\xfe\xff\xff\xff\n")
    with pytest.raises(DataError, match=r"gold\.txt:2: not valid utf-8"):
        list(read_links(path))
