"""Every rule says what is known of the harm that it warns of, and warns of nothing else."""

from __future__ import annotations

import pytest

from harness.descriptions.linting.findings import (
    OPINION,
    EvidenceKind,
    LintEvidence,
    Measurement,
    Rule,
    Severity,
    load_rules,
    reported_evidence,
)

MEASURED = LintEvidence(
    kind="measured",
    source="a study",
    effect="it costs success",
    measurements=(
        Measurement(of="one", points=-25.2, interval=(-39.0, -11.3)),
        Measurement(of="other", points=-13.3, interval=(-25.2, -1.5)),
    ),
)
NULL = LintEvidence(
    kind="measured",
    source="a study",
    effect="no effect was shown",
    measurements=(Measurement(of="one", points=-13.3, interval=(-40.8, 14.1)),),
)


@pytest.mark.parametrize("name", sorted(load_rules()))
def test_only_a_rule_with_evidence_of_harm_is_more_than_a_note(name: str) -> None:
    rule = load_rules()[name]
    assert rule.severity == "note" or rule.evidence.supports_a_warning
    assert rule.evidence.kind == "opinion" or rule.evidence.source


@pytest.mark.parametrize("severity", ["error", "warning"])
@pytest.mark.parametrize("evidence", [OPINION, NULL])
def test_a_warning_from_an_opinion_or_a_measured_nothing_is_refused(
    severity: Severity, evidence: LintEvidence
) -> None:
    with pytest.raises(ValueError, match="only with evidence of harm"):
        Rule(severity=severity, why="It looks bad.", evidence=evidence)
    assert Rule(severity="note", why="It looks bad.", evidence=evidence).severity == "note"


def test_a_rule_without_evidence_is_an_opinion() -> None:
    assert Rule(severity="note", why="It looks bad.").evidence is OPINION


@pytest.mark.parametrize(
    ("kind", "source", "effect"),
    [("reported", "", "it does harm"), ("measured", "a study", ""), ("measured", "a study", "x")],
)
def test_evidence_without_what_it_claims_is_refused(
    kind: EvidenceKind, source: str, effect: str
) -> None:
    with pytest.raises(ValueError, match="needs its"):
        LintEvidence(kind=kind, source=source, effect=effect)


def test_evidence_is_told_in_one_line_with_its_points_and_source() -> None:
    assert MEASURED.summary == "measured, -25.2 to -13.3 points: it costs success (a study)"
    assert reported_evidence("it does harm", "a page").summary == "reported: it does harm (a page)"
    assert OPINION.summary.startswith("opinion: ")
