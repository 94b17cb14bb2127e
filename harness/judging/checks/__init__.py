"""The checks: assertions over a transcript, one file a family, found by name through `KINDS`.

A check is data (`harness.types.Check`); a `CheckKind` knows how to read it from a suite and how to
judge it. To add one, write a class that satisfies `CheckKind` and name it here or under the
entry-point group ``harness.checks``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, get_args

from harness.base import HarnessError, Problem, Registry, find_members
from harness.judging.checks.contradictions import TURNS_PASSED_KIND, Claim, find_contradictions
from harness.judging.checks.judge.judge import Judge
from harness.judging.checks.turns import transcript_until, unreached_result
from harness.types import (
    Case,
    Check,
    CheckResult,
    JsonObject,
    JsonPath,
    Presentation,
    Severity,
    ToolList,
    Transcript,
    Verdict,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Everything that a check may use."""

    case: Case
    """What was asked."""
    transcript: Transcript
    """What happened."""
    tools: ToolList
    """The tools that this user was offered, as the server describes them."""
    presented: Presentation | None = None
    """What the model saw of them under a variant; ``None``: what the server says of them."""
    judge: Judge | None = None
    """Asked for what no assertion can decide; ``None`` if there is no judge."""
    turn_results: tuple[CheckResult, ...] = ()
    """Results of the checks of single turns, while the whole conversation is judged."""
    must_not_hold: bool = False
    """Whether the check must fail, since it stands under a ``not``: what it names is forbidden."""


class CheckKind(Protocol):
    """One kind of check."""

    @property
    def schema(self) -> JsonObject:
        """JSON Schema of the value that a suite gives under this kind's name."""
        ...

    def parse(self, value: Any) -> Sequence[tuple[JsonPath, JsonObject | Check]]:
        """Return ``(path in value, normalised params)`` for each check in ``value``.

        A kind that consists of other checks returns the `Check` itself, with its options.

        Raises:
            InvalidValue: with the path to the invalid part.
        """
        ...

    async def evaluate(self, check: Check, evidence: Evidence) -> CheckResult:
        """Judge ``check`` by the evidence.

        Raises:
            JudgeError: it cannot be judged.
        """
        ...


KINDS: Registry[CheckKind] = Registry(
    "harness.checks",
    "check",
    {
        "must_call": "harness.judging.checks.kinds.calls:MUST_CALL",
        "must_not_call": "harness.judging.checks.kinds.calls:MUST_NOT_CALL",
        "must_call_any": "harness.judging.checks.kinds.call_sets:MUST_CALL_ANY",
        "must_call_in_order": "harness.judging.checks.kinds.call_order:MUST_CALL_IN_ORDER",
        "only_call": "harness.judging.checks.kinds.call_sets:ONLY_CALL",
        "max_calls": "harness.judging.checks.kinds.call_sets:MAX_CALLS",
        "must_succeed": "harness.judging.checks.kinds.outcomes:MUST_SUCCEED",
        "must_be_denied": "harness.judging.checks.kinds.outcomes:MUST_BE_DENIED",
        "must_be_refused": "harness.judging.checks.kinds.session_refusal:MUST_BE_REFUSED",
        "decision": "harness.judging.checks.kinds.decision:DECISION",
        "must_error": "harness.judging.checks.kinds.outcomes:MUST_ERROR",
        "no_tool_errors": "harness.judging.checks.kinds.outcomes:NO_TOOL_ERRORS",
        "recovers_from_error": "harness.judging.checks.kinds.outcomes:RECOVERS_FROM_ERROR",
        "tool_result_contains": "harness.judging.checks.kinds.result_text:TOOL_RESULT_CONTAINS",
        "tool_result_not_contains": (
            "harness.judging.checks.kinds.result_text:TOOL_RESULT_NOT_CONTAINS"
        ),
        "tool_result": "harness.judging.checks.kinds.result_data:TOOL_RESULT",
        "end_state": "harness.judging.checks.kinds.end_state:END_STATE",
        "output_schema_valid": "harness.judging.checks.kinds.result_data:OUTPUT_SCHEMA_VALID",
        "answer_contains": "harness.judging.checks.kinds.answer_text:ANSWER_CONTAINS",
        "answer_not_contains": "harness.judging.checks.kinds.answer_text:ANSWER_NOT_CONTAINS",
        "answer_contains_any": "harness.judging.checks.kinds.answer_text:ANSWER_CONTAINS_ANY",
        "answer_equals": "harness.judging.checks.kinds.answer_text:ANSWER_EQUALS",
        "answer_matches": "harness.judging.checks.kinds.answer_text:ANSWER_MATCHES",
        "answer_json": "harness.judging.checks.kinds.answer_data:ANSWER_JSON",
        "answer_number": "harness.judging.checks.kinds.answer_data:ANSWER_NUMBER",
        "refuses": "harness.judging.checks.kinds.answer_refusal:REFUSES",
        "remembers": "harness.judging.checks.kinds.memory:REMEMBERS",
        "turns_passed": "harness.judging.checks.kinds.turn_share:TURNS_PASSED",
        "expected_answer": "harness.judging.checks.kinds.answer_judge:EXPECTED_ANSWER",
        "answer_judge": "harness.judging.checks.kinds.answer_judge:ANSWER_JUDGE",
        "graded": "harness.judging.checks.kinds.grading:GRADED",
        "max_replies": "harness.judging.checks.kinds.budgets:MAX_REPLIES",
        "max_tokens": "harness.judging.checks.kinds.budgets:MAX_TOKENS",
        "max_cost": "harness.judging.checks.kinds.budgets:MAX_COST",
        "max_seconds": "harness.judging.checks.kinds.budgets:MAX_SECONDS",
        "any_of": "harness.judging.checks.kinds.groups:ANY_OF",
        "all_of": "harness.judging.checks.kinds.groups:ALL_OF",
        "not": "harness.judging.checks.kinds.groups:NOT",
        **find_members(
            Path(__file__).with_name("kinds"),
            "harness.judging.checks.kinds",
            "CHECK",
            ending="_check",
            dashes=False,
        ),
    },
    unlisted={
        "python": (
            "harness.judging.checks.kinds.python_code:PYTHON"
        ),  # only suites in Python ask for it
    },
)
"""Check name → its `CheckKind`. Leaderboards add their own, which no suite may name."""


class CheckVocabulary:
    """What readers of suites need from `KINDS`: a `harness.suites.Vocabulary`."""

    def names(self) -> Sequence[str]:
        """Return every check name that may stand under ``assertions:``."""
        return KINDS.list_names()

    def schema(self, name: str) -> JsonObject:
        """Return the JSON Schema of the value under that name, with the check's description."""
        kind = KINDS.get(name)
        doc = getattr(kind, "doc", None)
        return kind.schema if doc is None else {"description": doc.plain, **kind.schema}

    def parse(self, name: str, value: Any) -> Sequence[tuple[JsonPath, Check]]:
        """Return ``(path in value, check)`` for each check in ``value``.

        Raises:
            InvalidValue: with the path to the invalid part.
        """
        return tuple(
            (path, asked if isinstance(asked, Check) else Check(kind=name, params=asked))
            for path, asked in KINDS.get(name).parse(value)
        )

    def find_contradictions(self, case: Case) -> Sequence[Problem]:
        """Return the checks of ``case`` that cannot hold together."""
        return tuple(find_contradictions(case, _find_claims))


def _find_claims(check: Check) -> Iterable[Claim]:
    # Kinds of other packages need not have any.
    claims: Callable[[JsonObject], Iterable[Claim]] | None = getattr(
        KINDS.get(check.kind), "claims", None
    )
    return () if claims is None else claims(check.params)


VOCABULARY = CheckVocabulary()
"""The vocabulary of this installation, including checks from other packages."""


async def evaluate_checks(evidence: Evidence) -> tuple[CheckResult, ...]:
    """Judge all checks of the case in the suite's order: turn by turn, then the whole.

    They see the calls of tools alone: a search for tools is the client's affair.
    """
    calls = evidence.transcript.server_calls
    if len(calls) < len(evidence.transcript.tool_calls):
        evidence = replace(evidence, transcript=replace(evidence.transcript, tool_calls=calls))
    results: list[CheckResult] = []
    told = sum(turn.ingest for turn in evidence.case.turns)
    for number, turn in enumerate(evidence.case.turns, start=1):
        so_far = transcript_until(evidence.transcript, number)
        name = f"question {number - told}" if told else f"turn {number}"
        for check in turn.checks:
            if so_far is None:
                result = unreached_result(check, evidence.transcript)
            else:
                result = await evaluate_check(
                    check, _set_current_prompt(replace(evidence, transcript=so_far), number)
                )
            results.append(replace(result, label=f"{name}: {result.label}", turn=number))
    whole = (
        _set_current_prompt(evidence, len(evidence.case.turns)) if evidence.case.turns else evidence
    )
    whole = replace(whole, turn_results=tuple(results))
    ended = [await evaluate_check(check, whole) for check in evidence.case.checks]
    if any(result.kind == TURNS_PASSED_KIND and result.severity == "fail" for result in ended):
        results = [
            result if result.verdict == "passed" else replace(result, severity="warn")
            for result in results
        ]
    return (*results, *ended)


async def evaluate_check(check: Check, evidence: Evidence) -> CheckResult:
    """Judge by one check.

    Raises:
        JudgeError: it cannot be judged.
        HarnessError: the result, perhaps from another package's check, has an invalid value, which
            could not be read back from a log.
    """
    result = await KINDS.get(check.kind).evaluate(check, evidence)
    place = f" ({check.at})" if check.at else ""
    for name, known in _WORDS.items():
        if (word := getattr(result, name)) not in known:
            found = f"check {check.kind}{place} returned a result with {name} {word!r:.100}"
            raise HarnessError(f"{found}, which is no {name}; it is one of {', '.join(known)}")
    score = result.score
    if score is not None and not (isinstance(score, int | float) and 0 <= score <= 1):
        found = f"check {check.kind}{place} returned a result with score {score!r:.100}"
        raise HarnessError(f"{found}, which is no score; it is a number from 0 to 1")
    return result


_WORDS = {"verdict": get_args(Verdict), "severity": get_args(Severity)}
"""The allowed values of a result."""


def _set_current_prompt(evidence: Evidence, turns: int) -> Evidence:
    """Return ``evidence`` whose prompt is what the user said in the current conversation.

    ``turns`` is the number of turns so far.
    """
    begins = max(
        (place for place, turn in enumerate(evidence.case.turns[:turns]) if turn.fresh), default=0
    )
    prompt = "\n\n".join(evidence.case.prompts[begins:turns])
    return replace(evidence, case=replace(evidence.case, prompt=prompt))
