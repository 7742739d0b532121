"""Shares of a data set: together they are all of it, and none has what another has."""

import pytest

from regard.data.shards import BLOCK, Shard
from regard.errors import ConfigError


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_shares_are_a_partition_in_order(count):
    rows = range(5 * BLOCK + 17)
    shares = [list(Shard(number, count).of(rows)) for number in range(1, count + 1)]
    assert sorted(row for share in shares for row in share) == list(rows)
    assert all(share == sorted(share) for share in shares)


def test_more_shares_than_blocks_leave_some_empty():
    assert [len(list(Shard(number, 4).of(range(10)))) for number in range(1, 5)] == [10, 0, 0, 0]


def test_names_sort_as_the_shares_do():
    assert Shard.parse("3/16").name("out/x.csv") == "out/x.part-03-of-16.csv"


@pytest.mark.parametrize("text", ["0/4", "5/4", "1", "a/b", "-1/4", "1/0", "1/4/2", "٣/٤"])
def test_what_is_no_share_is_refused(text):
    with pytest.raises(ConfigError, match="--shard"):
        Shard.parse(text)
