"""All kinds of check by name: those of the files in ``kinds``, and those of other packages."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from harness.base import Registry
from harness.judging.checks.kind import SECTIONS, CheckKind
from harness.types import Check, CheckTrait

_PACKAGE = "harness.judging.checks.kinds"


@cache
def _find_kinds() -> Mapping[str, tuple[CheckKind, str]]:
    """Return each kind in the files of ``kinds`` with its ``module:attribute``, by name.

    They are in the order of the documentation. Reading any suite needs all of them for its keys,
    so nothing would be saved if the files were not imported here.
    """
    found: dict[str, tuple[CheckKind, str]] = {}
    for module in iter_modules([str(Path(__file__).with_name("kinds"))]):
        path = f"{_PACKAGE}.{module.name}"
        for attribute, member in vars(import_module(path)).items():
            if isinstance(member, CheckKind):
                # A kind that one file imports from another is in both.
                found.setdefault(member.name, (member, f"{path}:{attribute}"))
    return dict(sorted(found.items(), key=lambda item: _place(item[1][0])))


def _place(kind: CheckKind) -> int:
    section = None if kind.doc is None else kind.doc.section
    return SECTIONS.index(section) if section in SECTIONS else len(SECTIONS)


def _references(*, in_suites: bool) -> Mapping[str, str]:
    return {
        name: reference
        for name, (kind, reference) in _find_kinds().items()
        if kind.in_suites == in_suites
    }


KINDS: Registry[CheckKind] = Registry(
    "harness.checks",
    "check",
    # Asked for later, since the files of `kinds` import this module.
    lambda: _references(in_suites=True),
    unlisted=lambda: _references(in_suites=False),
    base=CheckKind,
)
"""Check name → its `CheckKind`. Leaderboards add their own, which no suite may name."""


def get_kind(check: Check) -> CheckKind:
    """Return the kind of ``check``."""
    return KINDS.get(check.kind)


def check_traits(check: Check) -> Collection[CheckTrait]:
    """Return what the kind of ``check`` says of it."""
    return get_kind(check).traits(check.params)


def checks_with(trait: CheckTrait, checks: Iterable[Check]) -> list[Check]:
    """Return those of ``checks``, and of the checks in their groups, that have ``trait``."""
    return [part for check in checks for part in check.walk() if trait in check_traits(part)]
