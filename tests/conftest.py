"""What tests of several parts share: a fitted classifier, which nobody may change."""

import pytest

from reviews import reviews, tagged, tiny


@pytest.fixture(scope="session")
def fitted():
    """Return a classifier that was fitted once on 80 reviews."""
    return tiny().fit(*reviews(80))


@pytest.fixture(scope="session")
def fitted_tags():
    """Return a classifier of several labels a document."""
    return tiny(training__epochs=16).fit(*tagged(80))
