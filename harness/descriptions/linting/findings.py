"""Rules of ``harness lint``, their findings, and the findings that a user ignores."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Literal, Protocol, TypeAlias, get_args

from harness.base import Registry, UsageError, did_you_mean, find_members
from harness.types import ToolCall, ToolList, dataclass

EvidenceKind: TypeAlias = Literal["measured", "reported", "opinion"]
"""``measured``: an experiment added or removed the defect and counted successes. ``reported``: a
specification, a provider's documentation or a study says that it does harm, without a figure for
this defect alone. ``opinion``: nobody has shown harm; such a rule gives notes only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One measured effect of a defect on the success of a model."""

    of: str
    """What was measured: the model, the size of the sample, what counted as success."""
    points: float
    """Percentage points that the defect adds to the rate of success: -25.2 means that it costs
    25.2 points."""
    interval: tuple[float, float] | None = None
    """Interval of 95 %, in percentage points; ``None`` if the source gives none."""

    @property
    def shows_harm(self) -> bool:
        """Whether the defect costs success, and its interval, if known, excludes 0."""
        return self.points < 0 and (self.interval is None or self.interval[1] < 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class LintEvidence:
    """Why a rule exists."""

    kind: EvidenceKind
    """The kind of evidence."""
    source: str = ""
    """Where the evidence is published; empty for an opinion."""
    effect: str = ""
    """The source's statement, as a clause; empty for an opinion."""
    measurements: tuple[Measurement, ...] = ()
    """The measured figures."""

    def __post_init__(self) -> None:
        """Require a source unless it is an opinion, and figures if it was measured.

        Raises:
            ValueError: a source or figures are missing.
        """
        if self.kind != "opinion" and not (self.source and self.effect):
            raise ValueError(f"evidence that is {self.kind} needs its source and its effect")
        if self.kind == "measured" and not self.measurements:
            raise ValueError("evidence that is measured needs its measurements")

    @property
    def supports_a_warning(self) -> bool:
        """Whether there is evidence of harm: false for an opinion, or if no harm was measured."""
        if self.kind == "measured":
            return any(measurement.shows_harm for measurement in self.measurements)
        return self.kind == "reported"

    @property
    def summary(self) -> str:
        """The evidence in one line: ``measured, -28.9 to -13.3 points (agentgauge, 2026)``."""
        if self.kind == "opinion":
            return "opinion: no measurement and no report of harm is known"
        if self.kind == "measured":
            return f"measured, {self.effect_range}: {self.effect} ({self.source})"
        return f"reported: {self.effect} ({self.source})"

    @property
    def effect_range(self) -> str:
        """The measured effects in words: ``-28.9 to -13.3 points``; empty if there are none."""
        found = sorted(measurement.points for measurement in self.measurements)
        if not found:
            return ""
        # A single figure is no range.
        ends = dict.fromkeys((f"{found[0]:+.1f}", f"{found[-1]:+.1f}"))
        return f"{' to '.join(ends)} points"


OPINION = LintEvidence(kind="opinion")
"""Evidence for a rule without any."""

_AGENTGAUGE = "agentgauge, open data, 2026"
_SPECIFICATION = "MCP specification 2025-11-25, Tools"


def specification_evidence(effect: str) -> LintEvidence:
    """Return evidence that MCP's specification states ``effect``."""
    return LintEvidence(kind="reported", source=_SPECIFICATION, effect=effect)


def reported_evidence(effect: str, source: str) -> LintEvidence:
    """Return evidence that ``source`` states ``effect``, without a figure for the defect alone."""
    return LintEvidence(kind="reported", source=source, effect=effect)


SIMILAR = reported_evidence(
    "models struggle to select among similar tools", "MetaTool, arXiv 2310.03128"
)
"""The cost of similar tools."""

CONTRADICTED = LintEvidence(
    kind="measured",
    source=_AGENTGAUGE,
    effect="text that contradicts the type or the enum of its parameter costs success",
    measurements=(
        Measurement(of="gemma2:9b, n = 45", points=-25.2, interval=(-39.0, -11.3)),
        Measurement(of="llama3.1:8b, n = 45", points=-28.9, interval=(-43.6, -14.2)),
        Measurement(of="qwen2.5:7b, n = 45", points=-13.3, interval=(-25.2, -1.5)),
    ),
)
"""The only defect of a linter whose harm was shown by an experiment on models."""

RENAMED = LintEvidence(
    kind="measured",
    source=_AGENTGAUGE,
    effect="no effect was shown where the text still has a parameter's former name",
    measurements=(
        Measurement(of="gemma2:9b, n = 15", points=0.0, interval=(-20.5, 20.5)),
        Measurement(of="llama3.1:8b, n = 15", points=-13.3, interval=(-40.8, 14.1)),
        Measurement(of="qwen2.5:7b, n = 15", points=6.7, interval=(-7.1, 20.4)),
    ),
)
"""A defect that was measured, without an effect distinguishable from chance."""

WITHOUT_EXAMPLES = LintEvidence(
    kind="measured",
    source="Anthropic, Advanced tool use, November 2025",
    effect="without examples in the definitions, 72 % instead of 90 % of the parameters were right",
    measurements=(
        Measurement(of="parameters right, tools with many options, vendor's own test", points=-18),
    ),
)
"""The benefit of examples in tool definitions."""

LONG_LISTS = LintEvidence(
    kind="measured",
    source="arXiv 2505.03275; Anthropic, Advanced tool use, November 2025",
    effect="models choose worse from the whole list than from the few tools that a search finds",
    measurements=(
        Measurement(of="right tool, all tools instead of those retrieved", points=-29.5),
        Measurement(of="Claude Opus 4, whole library instead of tool search", points=-25),
    ),
)
"""The cost of a long list."""

FUNCTIONALITY = reported_evidence(
    "text that says what a tool does changes how often it is selected by +11.6 %",
    "arXiv 2602.18914, mutations of descriptions, 10,831 servers",
)
"""The benefit of a description that says what the tool does."""


Severity: TypeAlias = Literal["error", "warning", "note"]
"""``error``: a call or a request fails for certain, by the protocol, the schema or the provider.
``warning``: a model is likely to make mistakes, by a measurement or a report. ``note``: everything
else, opinions above all. The most severe stands first."""
EVERY_TOOL = "*"
"""Key for every tool, and for the list as a whole."""

_UNREAD = frozenset({"no-tools", "unusable-tool"})
"""Rules whose findings say that a text was not read: silence would pass for safety."""

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
    security: bool = False
    """Whether it is about attacks on the model or its user."""

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
    check_calls: Callable[[Sequence[ToolCall]], Iterable[LintFinding]] = lambda _: ()
    """Yields findings on the failed calls of a run, of tools in the list."""
    check_joined: Callable[[ToolList, Mapping[str, str]], Iterable[LintFinding]] = lambda *_: ()
    """Yields findings on several joined servers, given the server of each tool by its name."""


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
    problem: str = ""
    """The problem without its parameters, for a finding that may repeat from tool to tool."""
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


def lint_tools(
    tools: ToolList,
    failed_calls: Sequence[ToolCall] = (),
    homes: Mapping[str, str] = MappingProxyType({}),
) -> tuple[LintFinding, ...]:
    """Return all findings: first of the list as a whole, then tool by tool in the server's order.

    For one tool, the most severe findings come first. ``failed_calls`` are those of a run;
    ``homes`` are the servers of the tools by name, if several are joined.

    Raises:
        UsageError: another package's rules cannot be imported.
    """
    order = {tool.name: place for place, tool in enumerate(tools.tools)}
    families = [FAMILIES.get(name) for name in FAMILIES.list_names()]
    # A tool that the run had, and that the server no longer lists, is nobody's to mend.
    calls = [call for call in failed_calls if call.tool in order]
    found = dict.fromkeys(
        finding
        for family in families
        for finding in chain(
            family.check(tools), family.check_calls(calls), family.check_joined(tools, homes)
        )
    )

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


class _OfRule(Protocol):
    @property
    def rule(self) -> str: ...


def is_on_security(finding: _OfRule) -> bool:
    """Whether a finding, or its key, is on security or says that a text was not read."""
    rule = load_rules().get(finding.rule)
    return finding.rule in _UNREAD or (rule is not None and rule.security)


def has_finding_at(findings: Sequence[LintFinding], threshold: Threshold) -> bool:
    """Whether a finding has at least the severity ``threshold``."""
    failing = {"error": {"error"}, "warning": {"error", "warning"}, "never": set[str]()}[threshold]
    return any(finding.severity in failing for finding in findings)
