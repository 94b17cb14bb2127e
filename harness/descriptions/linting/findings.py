"""Rules of ``harness lint``, their findings, and the findings that a user ignores."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from harness.base import Registry, UsageError, did_you_mean, find_members
from harness.descriptions.linting.evidence import OPINION, LintEvidence
from harness.types import ToolList

Severity: TypeAlias = Literal["error", "warning", "note"]
"""``error``: a call or a request fails for certain, by the protocol, the schema or the provider.
``warning``: a model is likely to make mistakes, by a measurement or a report. ``note``: everything
else, opinions above all. The most severe stands first."""
EVERY_TOOL = "*"
"""Key for every tool, and for the list as a whole."""

Threshold: TypeAlias = Literal["error", "warning", "never"]
"""The lowest severity with which a finding fails the command."""

Ignored: TypeAlias = Mapping[str, Collection[str]]
"""Tool, or `EVERY_TOOL`, → the rules whose findings are ignored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule."""

    severity: Severity
    """Its severity."""
    why: str
    """The consequence, for the author of the server."""
    instead: str = ""
    """What to write instead; empty where each finding says it itself."""
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
    advice: str | None = None
    """What to write instead; ``None``: what the rule says."""

    @property
    def instead(self) -> str:
        """What to write instead."""
        return load_rules()[self.rule].instead if self.advice is None else self.advice

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


def lint_tools(tools: ToolList) -> tuple[LintFinding, ...]:
    """Return all findings: first of the list as a whole, then tool by tool in the server's order.

    For one tool, the most severe findings come first.

    Raises:
        UsageError: another package's rules cannot be imported.
    """
    order = {tool.name: place for place, tool in enumerate(tools.tools)}
    families = [FAMILIES.get(name) for name in FAMILIES.list_names()]
    found = dict.fromkeys(finding for family in families for finding in family.check(tools))

    def sort_key(one: LintFinding) -> tuple[int, int]:
        of_tool = -1 if one.tool is None else order.get(one.tool, len(order))
        return of_tool, get_args(Severity).index(one.severity)

    # Sorting is stable: findings of equal rank keep the order of the rules.
    return tuple(sorted(found, key=sort_key))


def check_ignored(ignored: Ignored, tools: ToolList, called: str) -> None:
    """Require that ``ignored`` has only known rules and tools; errors call it ``called``.

    Raises:
        UsageError: it names an unknown rule or tool.
    """
    listed = [
        EVERY_TOOL,
        *(tool.name for tool in tools.tools),
        # Tools that cannot be used have findings, too.
        *(problem.tool for problem in tools.problems),
    ]
    for tool, rules in ignored.items():
        if tool not in listed:
            raise UsageError(
                f"{called}: the server lists no tool {tool!r}", meant=did_you_mean(tool, listed)
            )
        for rule in rules:
            if rule not in load_rules():
                every = f"The rules are: {', '.join(load_rules())}."
                raise UsageError(
                    f"{called}: there is no rule {rule!r}",
                    meant=did_you_mean(rule, load_rules()) or every,
                )


def drop_ignored(findings: Sequence[LintFinding], ignored: Ignored) -> tuple[LintFinding, ...]:
    """Return the findings that are not ignored."""
    return tuple(
        one
        for one in findings
        if one.rule not in ignored.get(EVERY_TOOL, ())
        and one.rule not in ignored.get(one.tool or EVERY_TOOL, ())
    )


def has_finding_at(findings: Sequence[LintFinding], threshold: Threshold) -> bool:
    """Whether a finding has at least the severity ``threshold``."""
    failing = {"error": {"error"}, "warning": {"error", "warning"}, "never": set[str]()}[threshold]
    return any(finding.severity in failing for finding in findings)
