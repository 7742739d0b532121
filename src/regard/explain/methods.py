"""The methods of explanation, by name."""

from __future__ import annotations

from collections.abc import Callable

from ..records.explanation import Explanation
from . import attention
from .answers import Answers

__all__ = ["METHODS", "Method"]

Method = Callable[[Answers], list[Explanation]]

METHODS: dict[str, Method] = {"attention": attention.explain}
