"""Arms: the changed tool lists that studies request; studies share the runs of equal arms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from harness.base import digest_json
from harness.suites import describe_variant
from harness.types import JsonObject, Variant


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One tool list to try, and the cases to try it on."""

    variant: Variant | None
    """The changed list; ``None`` is the server's own, the *clean* arm."""
    cases: frozenset[str] | None = None
    """Names of the cases; ``None``: every case of the suite."""

    @property
    def key(self) -> str:
        """Equal for arms with the same content, whatever their names."""
        return variant_key(self.variant)

    def has_case(self, case: str) -> bool:
        """Whether the case of that name is part of the arm."""
        return self.cases is None or case in self.cases


CLEAN = Arm(variant=None)
"""The server's own list, on every case."""


def variant_key(variant: Variant | None) -> str:
    """Return a digest of a variant's changes, without its name and description."""
    return "" if variant is None else logged_variant_key(describe_variant(variant))


def logged_variant_key(described: JsonObject) -> str:
    """Return the key of a variant from its description in a log's header."""
    return digest_json(
        {part: value for part, value in described["edits"].items() if part != "name"}
    )


def merge_arms(arms: Iterable[Arm]) -> tuple[Arm, ...]:
    """Return each arm once, in order; equal ones are joined over all their cases.

    Arms with the same name but different content get a number after the name.
    """
    joined: dict[str, Arm] = {}
    for arm in arms:
        known = joined.setdefault(arm.key, arm)
        # None is every case, which no further case can widen.
        if known.cases is not None:
            cases = None if arm.cases is None else known.cases | arm.cases
            joined[arm.key] = replace(known, cases=cases)
    return tuple(_make_names_unique(joined.values()))


def select_unrun_arms(
    arms: Iterable[Arm], ran: Mapping[str, frozenset[str]], every: frozenset[str]
) -> tuple[Arm, ...]:
    """Return ``arms`` with the cases that they have not been run on yet, and without empty ones.

    Args:
        arms: The wanted arms.
        ran: Key of an arm → the cases that it has run on.
        every: All cases of the suite.
    """
    wanted = ((arm, every if arm.cases is None else arm.cases) for arm in merge_arms(arms))
    left = ((arm, cases - ran.get(arm.key, frozenset())) for arm, cases in wanted)
    return tuple(replace(arm, cases=cases) for arm, cases in left if cases)


def _make_names_unique(arms: Iterable[Arm]) -> Iterable[Arm]:
    taken: dict[str, int] = {}
    for arm in arms:
        if arm.variant is None:
            yield arm
            continue
        name = arm.variant.name
        taken[name] = taken.get(name, 0) + 1
        own = name if taken[name] == 1 else f"{name} ({taken[name]})"
        yield replace(arm, variant=replace(arm.variant, name=own))
