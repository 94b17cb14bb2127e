"""Who saw what: the part of a verdict that takes all identities of a test, read from the log alone.

A trial is judged by itself when it ends. What one identity's view says of another's is known only
when all are there, so it is worked out here, each time a report is built: for a finished run, for
an interrupted one, for shards that were merged, and for logs that are graded again. Logs without
such tests are passed over without a look at any conversation.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from harness.canonical_json import canonical_json
from harness.judging.access_checks import identity_check, leak_check, with_comparison
from harness.judging.policy import View, decide, find_leaks, summary, unobserved
from harness.runlog import RunLog
from harness.types import (
    AccessCell,
    AccessReport,
    AccessRow,
    CaseResult,
    CheckResult,
    Decision,
    Leak,
    Tool,
    ToolList,
    Transcript,
    TrialResult,
    UserMessage,
)

_Key: TypeAlias = tuple[str, str, str]
"""Suite, case and model."""


@dataclass(slots=True)
class AccessFacts:
    """What the views of a log come to, by trial."""

    decisions: dict[str, tuple[Decision, ...]] = field(default_factory=dict)
    """`Trial.key` → what was decided."""
    leaks: dict[str, list[Leak]] = field(default_factory=dict)
    """`Trial.key` → what was given and should not have been."""
    unobserved: dict[str, str] = field(default_factory=dict)
    """Suite → why nothing shows that the server knows who asks."""


def judged_runs(
    log: RunLog, runs: Sequence[TrialResult] | None = None
) -> tuple[Sequence[TrialResult], AccessFacts]:
    """Return the runs of ``log`` with what takes all identities of a test, and the facts behind it."""
    runs = log.runs if runs is None else runs
    facts = AccessFacts()
    by_suite: dict[str, list[TrialResult]] = {}
    for run in runs:
        by_suite.setdefault(run.suite, []).append(run)
    judged: dict[str, TrialResult] = {}
    for suite, own in by_suite.items():
        judged |= _judge_groups([run for run in own if run.case.group is not None], log, facts)
        _observe(suite, own, log, facts)
    required = {
        suite
        for suite in facts.unobserved
        if log.header.suites.get(suite, {}).get("require_identity")
    }
    if not judged and not required:
        return runs, facts
    return [_required(judged.get(run.key, run), facts, required) for run in runs], facts


def access_report(facts: AccessFacts, cases: Iterable[CaseResult]) -> AccessReport:
    """Return ``facts`` as a matrix of tests and identities."""
    rows: dict[_Key, list[AccessCell]] = {}
    for case in cases:
        first = case.trials[0]
        if first.case.group is not None and first.case.identity is not None:
            rows.setdefault((case.suite, first.case.group, case.model), []).append(
                _cell(case, first.case.identity, facts)
            )
    return AccessReport(
        rows=tuple(
            AccessRow(suite=suite, group=group, model=model, cells=tuple(cells))
            for (suite, group, model), cells in rows.items()
        ),
        unobserved=facts.unobserved,
    )


# ── Views ────────────────────────────────────────────────────────────────────────────────────


def view_of(run: TrialResult, transcript: Transcript, log: RunLog) -> View:
    """Return a trial as its identity lived it."""
    said = [message.text for message in transcript.messages if isinstance(message, UserMessage)]
    sent = [
        json.dumps(call.arguments, ensure_ascii=False, default=dict)
        for call in transcript.setup_calls
    ]
    context = (
        ""
        if run.case.user_context is None
        else json.dumps(run.case.user_context, ensure_ascii=False, default=dict)
    )
    system = log.header.suites.get(run.suite, {}).get("system_prompt") or ""
    return View(
        identity=run.case.identity
        or ("nobody" if run.case.user_context is None else canonical_json(run.case.user_context)),
        calls=transcript.tool_calls,
        tools=log.tools.get(transcript.tools_digest) or _named_only(transcript.tools),
        answer=transcript.answer,
        known=tuple(text for text in (*said, *sent, context, system) if text),
        suite=run.suite,
        case=run.case.name,
        group=f"{run.case.group} {run.model}",
        key=run.key,
        nobody=not run.case.user_context,
        meant=is_meant(run),
        refused=transcript.refused_status is not None,
        rightful=not any(_goes_too_far(check) for check in run.checks),
    )


def _named_only(names: Iterable[str]) -> ToolList:
    return ToolList(tools=tuple(Tool(name=name, input_schema={}) for name in names))


def _goes_too_far(check: CheckResult) -> bool:
    """Whether the suite says that the identity must not see what it saw."""
    if (
        check.kind != "decision"
        or check.verdict != "failed"
        or not isinstance(check.actual, Mapping)
    ):
        return False
    return check.actual.get("is") == "allowed"


def is_meant(run: TrialResult) -> bool:
    """Whether the suite says that the identity is allowed what it asked for."""
    return any(
        check.kind == "decision" and "allowed" in (check.expected or {}).get("is", ())
        for check in run.checks
    )


def _views(runs: Iterable[TrialResult], log: RunLog) -> Iterator[View]:
    for run in runs:
        transcript = log.transcript(run.key) if run.stop is not None else None
        if transcript is not None:
            yield view_of(run, transcript, log)


# ── Judging ──────────────────────────────────────────────────────────────────────────────────


def _judge_groups(
    runs: Sequence[TrialResult], log: RunLog, facts: AccessFacts
) -> dict[str, TrialResult]:
    """Return the runs of one suite that are asked as several identities, judged by one another's views."""
    if not runs:
        return {}
    views = list(_views(runs, log))
    facts.decisions |= {
        view.key: decided for view, decided in zip(views, decide(views), strict=True)
    }
    searched = {run.key for run in runs if run.case.leaks == "fail"}
    for leak in find_leaks(views):
        if leak.key in searched:
            facts.leaks.setdefault(leak.key, []).append(leak)
    company: dict[str, dict[str, None]] = {}
    for view in views:
        company.setdefault(view.group, {})[view.identity] = None
    others = {
        view.key: [name for name in company[view.group] if name != view.identity] for view in views
    }
    return {
        run.key: _judged(run, facts, others[run.key], run.key in searched)
        for run in runs
        if run.key in others
    }


def _judged(
    run: TrialResult,
    facts: AccessFacts,
    others: Sequence[str],
    searched: bool,  # noqa: FBT001 - one of two ways
) -> TrialResult:
    checks = [with_comparison(check, facts.decisions[run.key]) for check in run.checks]
    leaks = facts.leaks.get(run.key, [])
    if searched and (others or leaks):
        found = leak_check(leaks, others, run.case.at)
        checks = [found, *checks] if leaks else [*checks, found]  # nothing else is as urgent
    return _with_checks(run, checks)


def _with_checks(run: TrialResult, checks: Sequence[CheckResult]) -> TrialResult:
    failed = any(check.verdict == "failed" and check.severity == "fail" for check in checks)
    status = "failed" if failed and run.status == "passed" else run.status
    return replace(run, checks=tuple(checks), status=status)


def _observe(suite: str, runs: Sequence[TrialResult], log: RunLog, facts: AccessFacts) -> None:
    named = {run.case.identity for run in runs if run.case.identity is not None}
    told = {
        canonical_json(run.case.user_context) for run in runs if run.case.user_context is not None
    }
    if len(named) < 2 and len(told) < 2:  # noqa: PLR2004 - one alone differs from nobody
        return
    reason = unobserved(_views(runs, log))
    if reason is not None:
        facts.unobserved[suite] = reason


def _required(run: TrialResult, facts: AccessFacts, required: Iterable[str]) -> TrialResult:
    if run.suite not in required or run.stop is None:
        return run
    return _with_checks(
        run, (*run.checks, identity_check(facts.unobserved[run.suite], run.case.at))
    )


# ── The matrix ───────────────────────────────────────────────────────────────────────────────


def _cell(case: CaseResult, identity: str, facts: AccessFacts) -> AccessCell:
    asked = [
        check.actual["is"]
        for run in case.trials
        for check in run.checks
        if check.kind == "decision"
        and isinstance(check.actual, Mapping)
        and "is" in (check.expected or ())
    ]
    decisions = [decision for run in case.trials for decision in facts.decisions.get(run.key, ())]
    # A tool that is hidden and that nobody called is no answer to the question of this test.
    telling = asked or [
        one.access for one in decisions if one.calls or one.access not in {"hidden", "denied"}
    ]
    leaks = tuple(leak for run in case.trials for leak in facts.leaks.get(run.key, ()))
    judged = any(run.key in facts.decisions for run in case.trials)
    return AccessCell(
        identity=identity,
        case=case.case,
        access=summary(telling or [one.access for one in decisions]) if judged else "error",
        status=case.status,
        decisions=_distinct(decisions),
        leaks=leaks,
    )


def _distinct(decisions: Iterable[Decision]) -> tuple[Decision, ...]:
    return tuple({_identity_of(decision): decision for decision in decisions}.values())


def _identity_of(decision: Decision) -> tuple[Any, ...]:
    return decision.tool, decision.access, decision.shape, decision.missing, decision.masked
