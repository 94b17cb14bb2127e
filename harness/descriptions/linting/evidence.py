"""The evidence for a rule: whether its defect was shown to do harm, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

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

SIMILAR = LintEvidence(
    kind="reported",
    source="MetaTool, arXiv 2310.03128",
    effect="models struggle to select among similar tools",
)
"""The cost of similar tools."""

_AGENTGAUGE = "agentgauge, open data, 2026"
_SPECIFICATION = "MCP specification 2025-11-25, Tools"


def specification_evidence(effect: str) -> LintEvidence:
    """Return evidence that MCP's specification states ``effect``."""
    return LintEvidence(kind="reported", source=_SPECIFICATION, effect=effect)


def reported_evidence(effect: str, source: str) -> LintEvidence:
    """Return evidence that ``source`` states ``effect``, without a figure for the defect alone."""
    return LintEvidence(kind="reported", source=source, effect=effect)


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
