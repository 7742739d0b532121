"""Faster versions of functions that ``nn`` and ``text`` define; same results, never needed."""

from __future__ import annotations

__all__ = ["describe"]


def describe() -> dict[str, str]:
    """Say for each kind of device which quick path is used, or why none is."""
    from . import cpu, gpu, scan

    return {
        "cpu_kernels": cpu.describe(),
        "gpu_kernels": gpu.describe(),
        "text_scanner": scan.describe(),
    }
