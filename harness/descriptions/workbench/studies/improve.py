"""Study: better descriptions, proposed from some questions and proven on others."""

from __future__ import annotations

from collections.abc import Sequence

from harness.descriptions.workbench.arms import Arm
from harness.descriptions.workbench.improving.acceptance import LOOKS, MOST_PROPOSALS
from harness.descriptions.workbench.improving.expected import expected_call
from harness.descriptions.workbench.improving.improvement import Improvement
from harness.descriptions.workbench.improving.proposal import Failure, Known
from harness.descriptions.workbench.improving.report import (
    VARIANTS_FILE,
    facts,
    findings,
    headline,
    lines,
    notes,
    variants,
)
from harness.descriptions.workbench.improving.rewrite import as_yaml
from harness.descriptions.workbench.improving.split import names, split
from harness.descriptions.workbench.improving.writer import used_ahead, used_before
from harness.descriptions.workbench.measured import Measured
from harness.descriptions.workbench.study import Bench, Study, StudyResult
from harness.types import Usage


def _arms(_bench: Bench) -> Sequence[Arm]:
    return ()  # all arms follow from the results of the clean arm


def _next_arms(bench: Bench, measured: Measured) -> Sequence[Arm]:
    return Improvement(bench, measured, ask=True).arms()


def _read(bench: Bench, measured: Measured) -> StudyResult:
    found = Improvement(bench, measured)
    named = variants(found)
    return StudyResult(
        study=STUDY.name,
        headline=headline(found),
        lines=tuple(lines(found, bench)),
        findings=tuple(findings(found)),
        facts=facts(found, bench.tools),
        notes=tuple(notes(found, bench)),
        files={VARIANTS_FILE: as_yaml(named)} if named else {},
    )


def _estimate(bench: Bench) -> int:
    parts = split(bench.suite.cases, bench.options.seed)
    seen, held_out = (sum(len(one.cases) for one in part) for part in (parts.seen, parts.held_out))
    return seen + held_out + MOST_PROPOSALS * seen + LOOKS * held_out


def _usage(bench: Bench) -> Usage:
    return Usage() if bench.folder is None else used_before(bench.folder, bench.model)


def _usage_ahead(bench: Bench) -> Usage:
    """Return an estimate of the writing model's usage if every case that it may see fails."""
    if bench.writer is None:
        return Usage()
    seen = names(split(bench.suite.cases, bench.options.seed).seen)
    failures = tuple(
        Failure(
            prompt=" / ".join(case.prompts), expected=expected_call(case), called=None, arguments={}
        )
        for case in bench.suite.cases
        if case.name in seen
    )
    known = Known(tools=bench.tools, failures=failures, effects=(), values={})
    return used_ahead(bench.writer, known)


STUDY = Study(
    name="improve",
    place=100,
    question="Which words are better, and hold on questions that their author never saw?",
    arms=_arms,
    read=_read,
    next_arms=_next_arms,
    estimate=_estimate,
    usage=_usage,
    usage_ahead=_usage_ahead,
)
