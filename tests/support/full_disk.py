"""A disk that is full: the system itself refuses what goes beyond a size."""

import contextlib
import resource
import sys
from unittest import mock


@contextlib.contextmanager
def full_disk(size=200):
    """Let no file grow beyond so many bytes; Python ignores the signal that comes with it."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Modules imported meanwhile must not be cut on their way into Python's cache.
    with mock.patch.object(sys, "dont_write_bytecode", True):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
