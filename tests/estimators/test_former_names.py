"""Names that documents gave to users still work, with a warning, for one version."""

import pytest

from regard.estimators import comparing
from regard.look import difference


@pytest.mark.parametrize("name", ["Comparison", "compare"])
def test_a_former_name_gives_what_it_named_and_says_where_it_is(name):
    with pytest.warns(DeprecationWarning, match=rf"is now regard\.look\.difference\.{name}"):
        found = getattr(comparing, name)
    assert found is getattr(difference, name)
    with pytest.raises(AttributeError, match="has no attribute 'other'"):
        _ = comparing.other
