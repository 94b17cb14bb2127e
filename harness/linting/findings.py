"""What a rule has to say of a tool, and why there is such a rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

from harness.registry import Registry, members_in
from harness.types import ToolList

Severity: TypeAlias = Literal["error", "warning", "note"]
"""``error``: a call fails, or nothing tells a model what to do. ``warning``: a model is likely to
go wrong. ``note``: good to know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One thing to look for."""

    severity: Severity
    """How bad it is."""
    why: str
    """What comes of it, for the author of the server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Rules that are looked for together."""

    rules: Mapping[str, Rule]
    """Each rule by its name."""
    check: Callable[[ToolList], Iterable[LintFinding]]
    """Gives what breaks them."""


FAMILIES: Registry[Family] = Registry(
    "harness.lint",
    "family of lint rules",
    members_in(Path(__file__).with_name("rules"), "harness.linting.rules", "FAMILY"),
)
"""Every family: one file each in `harness.linting.rules`, and those of other packages."""


@cache
def rules() -> Mapping[str, Rule]:
    """Return every rule by its name.

    Raises:
        UsageError: another package's family cannot be imported.
    """
    families = [FAMILIES.get(name) for name in FAMILIES.names()]
    return {name: rule for family in families for name, rule in family.rules.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class LintFinding:
    """One thing that was found."""

    rule: str
    """Its name."""
    tool: str | None
    """The tool; ``None`` when the list as a whole is meant."""
    parameters: tuple[str, ...] = ()
    """The parameters that are meant: ``filter.from``, ``edits[].text``."""
    message: str
    """What was found, in a sentence."""
    instead: str
    """What to write instead."""

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return rules()[self.rule].severity

    @property
    def why(self) -> str:
        """Why it matters."""
        return rules()[self.rule].why
