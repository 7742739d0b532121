"""What the table says of a measure is what the code does."""

import pytest

from regard.audit import attention, needle
from regard.errors import ConfigError
from regard.explain.rankings import BINS
from regard.records.measures import MEASURES, Measure
from regard.records.weights import PHRASE

SHARES = ", ".join(f"{100 * share:g}" for share in BINS)
NUMBERS = {
    "auprc": f"a bell of {PHRASE:g} words",
    "comprehensiveness": f"the heaviest {SHARES} %",
    "sufficiency_sentence": f"the heaviest {SHARES} %",
    "flip_fraction": f"at most {attention.FLIP_STEPS} steps",
    "adversarial_jsd": f"by at most {attention.EPSILON};",
    "permutation_change": f"over {attention.PERMUTATIONS} permutations",
    "stability_overlap": f"the {attention.TOP} heaviest",
    **{f"needle_recall_{n}": f"planted {n} times in {needle.LENGTH}:" for n in needle.COPIES},
}


@pytest.mark.parametrize("name", NUMBERS)
def test_a_protocol_has_the_numbers_of_the_code(name):
    assert NUMBERS[name] in MEASURES[name].protocol


def test_every_title_is_another():
    assert len({measure.title for measure in MEASURES.values()}) == len(MEASURES)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"family": "faithfulnes"}, "family"),
        ({"family": "marks", "better": "higher"}, "better"),
        ({"family": "attention", "take": lambda explanation: None}, "of the family 'attention'"),
    ],
)
def test_an_entry_that_cannot_be_shown_is_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        Measure("A title", protocol="how", **settings)
