"""Study: better descriptions, proposed from some questions and proven on others."""

from __future__ import annotations

from collections.abc import Sequence

from harness.descriptions.workbench.arms import Arm
from harness.descriptions.workbench.improving.acceptance import (
    LOOKS,
    MOST_PROPOSALS,
    case_names,
    split_intents,
)
from harness.descriptions.workbench.improving.improvement import Improvement
from harness.descriptions.workbench.improving.proposal import (
    CaseFailure,
    ProposerInput,
    expected_call,
)
from harness.descriptions.workbench.improving.report import (
    VARIANTS_FILE,
    build_facts,
    build_findings,
    build_notes,
    collect_variants,
    format_lines,
    variants_yaml,
    write_headline,
)
from harness.descriptions.workbench.improving.writer import estimate_usage, recorded_usage
from harness.descriptions.workbench.measurements import ModelMeasurements
from harness.descriptions.workbench.study import Study, StudyContext, StudyResult
from harness.types import Usage


def _next_arms(bench: StudyContext, measured: ModelMeasurements) -> Sequence[Arm]:
    # The writing model is asked only here: reading results again must cost nothing.
    return Improvement(bench, measured, ask=True).needed_arms()


def _analyze_results(bench: StudyContext, measured: ModelMeasurements) -> StudyResult:
    found = Improvement(bench, measured)
    named = collect_variants(found)
    return StudyResult(
        headline=write_headline(found),
        lines=tuple(format_lines(found, bench)),
        findings=tuple(build_findings(found)),
        facts=build_facts(found, bench.tools),
        notes=tuple(build_notes(found, bench)),
        files={VARIANTS_FILE: variants_yaml(named)} if named else {},
    )


def _estimate_trials(bench: StudyContext) -> int:
    parts = split_intents(bench.suite.cases, bench.options.seed)
    seen, held_out = (sum(len(one.cases) for one in part) for part in (parts.seen, parts.held_out))
    # Hints for all, every proposal on the seen cases, and every look on the held-out ones.
    return seen + held_out + MOST_PROPOSALS * seen + LOOKS * held_out


def _writer_usage(bench: StudyContext) -> Usage:
    return Usage() if bench.folder is None else recorded_usage(bench.folder, bench.model)


def _usage_ahead(bench: StudyContext) -> Usage:
    """Return an estimate of the writing model's usage if every case that it may see fails."""
    if bench.writer is None:
        return Usage()
    seen = case_names(split_intents(bench.suite.cases, bench.options.seed).seen)
    failures = tuple(
        CaseFailure(
            prompt=" / ".join(case.prompts), expected=expected_call(case), called=None, arguments={}
        )
        for case in bench.suite.cases
        if case.name in seen
    )
    known = ProposerInput(tools=bench.tools, failures=failures, effects=(), values={})
    return estimate_usage(bench.writer, known)


STUDY = Study(
    name="improve",
    place=100,
    question="Which words are better, and hold on questions that their author never saw?",
    read=_analyze_results,
    next_arms=_next_arms,
    estimate=_estimate_trials,
    usage=_writer_usage,
    usage_ahead=_usage_ahead,
)
