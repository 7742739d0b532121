"""What tests of several parts share: the processor's ways, a fitted classifier, a browser."""

import os
import shutil
import signal
from collections.abc import Iterator

import pytest

# Some virtual machines announce matrix tiles (AMX) and then refuse them: half precision would end
# the whole process. Read when torch computes for the first time.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
# Intel's products have the same bits with any number of threads only when they are asked to.
os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")
# A shell that starts tests in the background lets them ignore Ctrl-C, which some of them press.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

from support.reviews import reviews, tagged, tiny  # imports torch, so it comes last


@pytest.fixture(scope="session")
def fitted():
    """Return a classifier that was fitted once on 80 reviews."""
    return tiny().fit(*reviews(80))


@pytest.fixture(scope="session")
def fitted_tags():
    """Return a classifier of several labels a document."""
    return tiny(training__epochs=16).fit(*tagged(80))


FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    """Return a real browser; without one the tests that look at pages say so and are skipped."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
    program = next(
        filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None
    )
    if program is None:
        pytest.skip("no chromium on this machine; install it to test the page in a real browser")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield started
        started.close()
