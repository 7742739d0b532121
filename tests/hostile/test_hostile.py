"""The command under thousands of hostile cases: success or one line, nothing lost or half-written.

``python -m tests.hostile`` runs families and single cases by name.
"""

import shutil

import pytest

from hostile.disasters import FAMILIES as DISASTERS
from hostile.running import FAMILIES, QUICK, cases_of, failures, opened_bench, sampled

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="faults are injected by C")


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    with opened_bench(tmp_path_factory.mktemp("hostile")) as opened:
        yield opened


@pytest.mark.timeout(900)
def test_two_thousand_hostile_cases(tmp_path_factory, capsys):
    """A sample of every family, drawn by a seed; about a minute."""
    count, found = 0, {}
    with opened_bench(tmp_path_factory.mktemp("hostile"), brief=True) as bench:
        for family in FAMILIES:
            cases = sampled(cases_of(family, bench), QUICK[family])
            count += len(cases)
            found.update(failures(bench, family, cases))
    with capsys.disabled():
        print(f"{count:,} hostile cases")
    assert not found, "\n\n".join(f"{name}: {problem}" for name, problem in found.items())
    assert count >= 2000


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("family", FAMILIES)
def test_no_case_of_a_family_gives_way(bench, family, capsys):
    cases = cases_of(family, bench)
    found = failures(bench, family, cases)
    with capsys.disabled():
        print(f"{family}: {len(cases):,} hostile cases")
    assert cases
    assert not found, "\n\n".join(f"{name}: {problem}" for name, problem in found.items())


def test_there_are_more_than_five_thousand_cases():
    """Without those whose number depends on how often a command calls the system."""
    counts = {name: len(cases_of(name, None)) for name in FAMILIES if name not in DISASTERS}
    assert sum(counts.values()) >= 5000, counts
