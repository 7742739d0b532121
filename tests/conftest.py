"""What tests of several parts share: the processor's ways, and a fitted classifier to look at."""

import os

import pytest

# Some virtual machines announce matrix tiles (AMX) and then refuse them: half precision would end
# the whole process. Read when torch computes for the first time.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
# Intel's products have the same bits with any number of threads only when they are asked to.
os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")

from support.reviews import reviews, tagged, tiny  # imports torch, so it comes last


@pytest.fixture(scope="session")
def fitted():
    """Return a classifier that was fitted once on 80 reviews."""
    return tiny().fit(*reviews(80))


@pytest.fixture(scope="session")
def fitted_tags():
    """Return a classifier of several labels a document."""
    return tiny(training__epochs=16).fit(*tagged(80))
