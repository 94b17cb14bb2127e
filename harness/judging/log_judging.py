"""Judge a run log: its results in order, each with its final status, and what each identity saw."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from harness.base import canonical_json
from harness.judging.access import AccessFacts
from harness.judging.checks.absent_fields import read_masks
from harness.judging.policy import View, explain_unobserved
from harness.judging.run_judge import (
    Order,
    RunJudge,
    find_compared_suites,
)
from harness.runlog import Header, RunLog, sort_results, store_results
from harness.types import (
    JsonObject,
    SideContent,
    Tool,
    ToolList,
    Transcript,
    TrialResult,
    UserMessage,
    dataclass,
)


def build_view(
    result: TrialResult,
    transcript: Transcript,
    tools: Mapping[str, ToolList],
    suites: JsonObject,
) -> View:
    """Return what the identity of a trial saw.

    Args:
        result: The trial's result.
        transcript: Its transcript.
        tools: Digest → tool list, for every logged list.
        suites: Suite name → its part of a log's header.
    """
    facts, context = result.case, result.case.user_context
    said = [message.text for message in transcript.messages if isinstance(message, UserMessage)]
    given = [call.arguments for call in transcript.setup_calls]
    sent = [
        json.dumps(one, ensure_ascii=False, default=dict)
        for one in (*given, *(() if context is None else (context,)))
    ]
    # The suite's own words are no secrets of the server, so all of them count as known.
    system = suites.get(result.suite, {}).get("system_prompt") or ""
    named_only = (Tool(name=name, input_schema={}) for name in transcript.tools)
    return View(
        identity=facts.identity or ("nobody" if context is None else canonical_json(context)),
        calls=transcript.server_calls,
        tools=tools.get(transcript.tools_digest) or ToolList(tools=tuple(named_only)),
        answer=transcript.answer,
        known=tuple(text for text in (*said, *sent, system) if text),
        attributes=context or {},
        beside=_list_side_content(transcript),
        suite=result.suite,
        case=facts.name,
        # Each entrant by itself: another model makes other calls.
        group=f"{facts.group} {result.entrant}",
        key=result.key,
        nobody=not context,
        meant=is_meant(result),
        masks=_collect_masks(result),
        refused=transcript.refused_status is not None,
        refused_by=transcript.refusal,
        # Not if the identity saw data that the suite says it must not see.
        rightful=not any(
            "decides_access" in check.traits
            and check.verdict == "failed"
            and isinstance(check.actual, Mapping)
            and check.actual.get("is") == "allowed"
            for check in result.checks
        ),
    )


def _list_side_content(transcript: Transcript) -> tuple[SideContent, ...]:
    """Return what was shown beside tools, prompts and resources for the model included."""
    # Where identities are compared, the first of a server's resources were read already.
    got = transcript.used_prompt
    shown = (*(() if got is None else (got,)), *transcript.resource_reads)
    own = {one.side_content.place: one.side_content for one in shown}
    return (*transcript.beside, *(one for one in own.values() if one not in transcript.beside))


def _collect_masks(result: TrialResult) -> Mapping[str, float]:
    """Return, by field, the share that a mask may leave readable by the suite's checks."""
    return {
        # `mask: none` is -1 for the check itself; of a mask, it leaves nothing readable.
        field.casefold(): max(most, 0.0)
        for check in result.checks
        if "decides_access" in check.traits and isinstance(check.expected, Mapping)
        for field, most in read_masks(check.expected).items()
        if most is not None
    }


def is_meant(result: TrialResult) -> bool:
    """Return whether the suite expects the identity's request to be allowed."""
    return any(
        "decides_access" in check.traits and "allowed" in (check.expected or {}).get("is", ())
        for check in result.checks
    )


@dataclass(frozen=True, slots=True)
class JudgedLog:
    """The judged results of a log."""

    results: Sequence[TrialResult]
    """All settled results in the order of the suites."""
    facts: AccessFacts
    """The comparison of what each identity saw."""


def judge_log(log: RunLog) -> JudgedLog:
    """Judge the results of ``log``; transcripts are read only to compare identities."""
    order = order_by_header(log.header)
    judge = RunJudge(suites=log.header.suites, order=order)

    def add_each() -> Iterator[TrialResult]:
        for result in log.results:
            # A view is made when it is needed, which is only where identities are compared.
            judge.add_result(result, partial(logged_view, log, result))
            yield result

    def settle(result: TrialResult) -> TrialResult:
        result = judged.get(result.key, result)
        review = log.reviews.get(result.key) if log.by_people else None
        # A person can overrule a verdict, but not make one of an error.
        if review is None or result.status not in {"passed", "failed"}:
            return result
        return replace(result, status=review.verdict)

    # Sorting reads all results, so the judge has every one of them before it is closed.
    results = sort_results(add_each(), order, log.results)
    judged = {result.key: result for result in judge.close()}
    settled = store_results(map(settle, results), log.results)
    _note_unobserved(settled, results, log, judge.facts)
    return JudgedLog(settled, judge.facts)


def order_by_header(header: Header) -> Order:
    """Return the sort key that puts results in the order of ``header``, by suite, case, entrant …

    In a log, results are in the order in which the trials ended.
    """
    cases = {suite: facts.get("cases", ()) for suite, facts in header.suites.items()}
    return order_by_names(cases, header.entrants)


def order_by_names(cases: Mapping[str, Iterable[str]], entrants: Iterable[str]) -> Order:
    """Return the sort key by the position of a result's suite, case and entrant."""
    suite_places = {suite: place for place, suite in enumerate(cases)}
    case_places = {
        (suite, name): place for suite, names in cases.items() for place, name in enumerate(names)
    }
    entrant_places = {name: place for place, name in enumerate(entrants)}
    # What the header does not name comes last.
    last = len(case_places) + len(entrant_places) + len(suite_places)
    return lambda result: (
        suite_places.get(result.suite, last),
        case_places.get((result.suite, result.case.name), last),
        entrant_places.get(result.entrant, last),
        result.trial,
    )


def logged_view(log: RunLog, result: TrialResult) -> View | None:
    """Return what the identity of a logged trial saw; ``None`` if the trial was not started."""
    transcript = log.read_transcript(result.key) if result.stop is not None else None
    if transcript is None:
        return None
    return build_view(result, transcript, log.tools, log.header.suites)


def _note_unobserved(
    settled: Iterable[TrialResult], results: Iterable[TrialResult], log: RunLog, facts: AccessFacts
) -> None:
    """Note the suites without ``require_identity`` in which no identity was observed."""
    left = find_compared_suites(settled) - facts.unobserved.keys()
    by_suite: dict[str, dict[str, TrialResult]] = {}
    for result in results if left else ():
        if result.suite in left:
            by_suite.setdefault(result.suite, {})[result.key] = result
    for suite, own in by_suite.items():
        views = (view for one in own.values() if (view := logged_view(log, one)) is not None)
        if (why := explain_unobserved(views)) is not None:
            facts.unobserved[suite] = why
