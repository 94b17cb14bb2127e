"""Rules of ``harness lint`` and their findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

from harness.base import Registry, find_members
from harness.descriptions.linting.evidence import OPINION, LintEvidence
from harness.types import ToolList

Severity: TypeAlias = Literal["error", "warning", "note"]
"""``error``: a call or a request fails for certain, by the protocol, the schema or the provider.
``warning``: a model is likely to make mistakes, by a measurement or a report. ``note``: everything
else, opinions above all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule."""

    severity: Severity
    """Its severity."""
    why: str
    """The consequence, for the author of the server."""
    evidence: LintEvidence = OPINION
    """The evidence for the rule."""

    def __post_init__(self) -> None:
        """Require evidence for every rule that is more than a note.

        Raises:
            ValueError: the rule has no evidence.
        """
        if self.severity != "note" and not self.evidence.supports_a_warning:
            raise ValueError(
                f"a rule may be of severity {self.severity!r} only with evidence of harm "
                '(measured or reported); without it, it is a "note"'
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Rules that are checked together."""

    rules: Mapping[str, Rule]
    """Each rule by its name."""
    check: Callable[[ToolList], Iterable[LintFinding]]
    """Yields their findings."""


FAMILIES: Registry[Family] = Registry(
    "harness.lint",
    "family of lint rules",
    find_members(Path(__file__).with_name("rules"), "harness.descriptions.linting.rules", "FAMILY"),
)
"""All families: one file each in `linting.rules`, and those of other packages."""


# Every finding asks for its rule, and other packages' families are imported for that.
@cache
def load_rules() -> Mapping[str, Rule]:
    """Return every rule by its name.

    Raises:
        UsageError: another package's family cannot be imported.
    """
    families = [FAMILIES.get(name) for name in FAMILIES.list_names()]
    return {name: rule for family in families for name, rule in family.rules.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class LintFinding:
    """One finding."""

    rule: str
    """Name of the rule."""
    tool: str | None
    """The tool; ``None`` for the list as a whole."""
    parameters: tuple[str, ...] = ()
    """Paths of the parameters: ``filter.from``, ``edits[].text``."""
    tools: tuple[str, ...] = ()
    """The tools, for a finding on the whole list that is about some of them."""
    message: str
    """The problem, in a sentence."""
    instead: str
    """What to write instead."""

    @property
    def severity(self) -> Severity:
        """The rule's severity."""
        return load_rules()[self.rule].severity

    @property
    def rationale(self) -> str:
        """Why the finding matters."""
        return load_rules()[self.rule].why

    @property
    def evidence(self) -> LintEvidence:
        """The evidence for the rule."""
        return load_rules()[self.rule].evidence
