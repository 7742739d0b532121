"""What a case is, and what all commands must keep to whatever they are given."""

from collections.abc import Callable
from dataclasses import dataclass

from .bench import Bench, accept, contents


@dataclass(frozen=True)
class Case:
    """One hostile deed by name; ``run`` raises ``AssertionError`` where the command gives way."""

    name: str
    run: Callable[[Bench], object]


def obey(bench, *arguments, out=None, codes=(0, 1), **options):
    """Run a command and hold that it ended as it must.

    It may change nothing but ``out``, one name or several, and that only where it succeeds.
    """
    before = contents(bench.folder)
    ran = accept(bench.run(*arguments, **options), codes)
    after = contents(bench.folder)
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    if out is not None and ran.code != 1:
        made = (out,) if isinstance(out, str) else out
        changed = {name for name in changed if not any(_on_the_way(name, one) for one in made)}
    assert not changed, f"changed or left behind: {sorted(changed)}\n{ran}"
    return ran


def _on_the_way(name, made):
    """Whether a name is what was to be made, in it, or a folder above it."""
    return name == made or name.startswith(f"{made}/") or made.startswith(f"{name}/")
