"""The check ``graded``: the mean of tool selection, argument match and faithfulness.

If a metric cannot be judged, the whole check is *not judged*: an error of the case, never zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from harness.base import InvalidValue, JudgeError, did_you_mean
from harness.judging.checks.explaining.transcript_lines import (
    explain_not_offered,
    find_similar_tool,
    format_expected_call,
    format_tool_name,
)
from harness.judging.checks.judge.faithfulness import STAND_IN, Faithfulness, grade_faithfulness
from harness.judging.checks.kind import (
    CheckDoc,
    CheckFinding,
    Evidence,
    Explanation,
    FunctionKind,
    listed_calls,
    make_single_reader,
)
from harness.judging.checks.kinds.metrics import (
    CallPair,
    argument_match,
    as_matcher,
    pair_calls,
    score_match,
    tool_selection,
)
from harness.judging.checks.parsing import (
    CALL,
    SHARE,
    TEXT,
    check_model,
    long_form,
    read_calls,
    read_mapping,
    read_share,
    read_texts,
)
from harness.judging.matching.calls import described_calls
from harness.judging.matching.differences import find_differences
from harness.judging.matching.json_values import ABSENT, format_value, shorten_value
from harness.judging.matching.matchers import describe_pattern, explain_unlike, is_matcher
from harness.judging.matching.texts import clip_text, format_line
from harness.types import JsonObject, ToolCall, dataclass

THRESHOLD = 0.7
"""The overall score from which on a case passes."""
MAX_EXPECTED = 100
"""Calls that one case may expect: the time to pair them grows with the square of their number."""

_MAX_TOLD = 4
_MAX_REPORTED = 100
_DIGITS = 9  # more digits of a mean of three would only show the rounding of floats


def _read_params(value: Any) -> JsonObject:
    found = read_mapping(
        value, (), required=("expected",), optional=("keywords", "threshold", "model")
    )
    expected = read_calls(found["expected"], ("expected",), at_least=0)
    if len(expected) > MAX_EXPECTED:
        words = f"these are {len(expected)} calls; at most {MAX_EXPECTED} fit a case"
        raise InvalidValue(words, path=("expected",))
    keywords = found.get("keywords", [])
    threshold = read_share(found.get("threshold", THRESHOLD), ("threshold",))
    return {
        **check_model(found),
        "expected": expected,
        # An empty list is none for `read_texts`, but here it says that no keyword is expected.
        "keywords": read_texts(keywords, ("keywords",), "keyword") if keywords != [] else [],
        "threshold": threshold,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grades:
    """The metrics of one trial."""

    selection: float
    arguments: float
    faith: Faithfulness | None
    """``None`` if it could not be judged."""
    pairs: tuple[CallPair, ...]

    @property
    def overall(self) -> float | None:
        if self.faith is None:
            return None
        # `fsum` is exact: the order of the scores does not matter.
        return round(math.fsum((self.selection, self.arguments, self.faith.score)) / 3, _DIGITS)


async def _judge_grades(params: JsonObject, evidence: Evidence) -> CheckFinding:
    made, threshold, problem = evidence.transcript.tool_calls, params["threshold"], ""
    expected = listed_calls(params, "expected")
    called = [(call.tool, call.arguments) for call in made]
    try:
        faith = await grade_faithfulness(params["keywords"], params.get("model"), evidence)
    except JudgeError as error:
        faith, problem = None, str(error)
    # These two metrics are told even where faithfulness has no score.
    pairs = pair_calls(expected, called)
    grades = _Grades(
        selection=tool_selection(expected, called),
        arguments=argument_match(pairs),
        faith=faith,
        pairs=pairs,
    )
    tools = ", ".join(dict.fromkeys(call["tool"] for call in params["expected"]))
    found = CheckFinding(
        label=clip_text(tools or "no tool expected", 80),
        expected={
            "calls": params["expected"],
            "keywords": params["keywords"],
            "threshold": threshold,
        },
        actual=_describe_grades(params, grades, made, problem),
        score=grades.overall,
    )
    if grades.overall is None:
        why = [f"Faithfulness could not be judged: {problem}"], None
        return replace(found, verdict="not_judged", why=why)
    if grades.overall >= threshold:
        return found
    return replace(found, why=_explain_grades(params, grades, evidence))


def _explain_grades(params: JsonObject, grades: _Grades, evidence: Evidence) -> Explanation:
    # It is told only where the check failed, which takes all three scores.
    faith, overall = grades.faith, grades.overall
    assert faith is not None
    scores = (
        f"tool selection {grades.selection:.2f}, argument match {grades.arguments:.2f}, "
        f"faithfulness {faith.score:.2f}"
    )
    grader = STAND_IN if faith.judgement is None else f"judge {faith.judgement.model}"
    return [
        f"Overall score {overall:.2f} is below {params['threshold']:.2f}: {scores}.",
        *_explain_calls(params["expected"], grades.pairs, evidence),
        f"Faithfulness {faith.score:.2f} ({grader}): {format_line(faith.explanation, 400)}",
    ], _choose_hint(grades, faith)


# ── What is reported ─────────────────────────────────────────────────────────────────────────


def _describe_grades(
    params: JsonObject, grades: _Grades, made: Sequence[ToolCall], problem: str
) -> JsonObject:
    taken = {pair.made for pair in grades.pairs}
    return {
        "overall": grades.overall,
        "metrics": {
            "tool_selection": {"score": grades.selection},
            "argument_match": {
                "score": grades.arguments,
                "pairs": [_describe_pair(params["expected"], pair, made) for pair in grades.pairs],
            },
            "faithfulness": _describe_faithfulness(grades.faith, problem),
        },
        "calls": [
            {
                "tool": call.tool,
                "arguments": shorten_value(call.arguments),
                "outcome": call.outcome,
                "expected": place in taken,
            }
            for place, call in enumerate(made[:_MAX_REPORTED])
        ],
    }


def _describe_pair(
    expected: Sequence[JsonObject], pair: CallPair, made: Sequence[ToolCall]
) -> JsonObject:
    given = None if pair.made is None else shorten_value(made[pair.made].arguments)
    wanted = expected[pair.expected]
    return {
        "tool": wanted["tool"],
        "expected": wanted["args"],
        "actual": given,
        "score": pair.score,
    }


def _describe_faithfulness(faith: Faithfulness | None, problem: str) -> JsonObject:
    if faith is None:
        return {"score": None, "explanation": problem, "judge": None}
    by: JsonObject = {"judge": None, "label": STAND_IN}
    if faith.judgement is not None:
        by = {"judge": faith.judgement.model, "prompt_version": faith.judgement.prompt_version}
    return {"score": faith.score, "explanation": faith.explanation, **by}


# ── What is told ─────────────────────────────────────────────────────────────────────────────


def _explain_calls(
    expected: Sequence[JsonObject], pairs: Sequence[CallPair], evidence: Evidence
) -> list[str]:
    lines: list[str] = []
    poor = [pair for pair in pairs if pair.score < 1]
    for pair in poor[:_MAX_TOLD]:
        lines += _explain_call(expected[pair.expected], pair, evidence)
    if (more := len(poor) - _MAX_TOLD) > 0:
        lines.append(f"… and {more} more calls that are not as expected")
    return lines


def _explain_call(call: JsonObject, pair: CallPair, evidence: Evidence) -> list[str]:
    if pair.made is not None:
        given = evidence.transcript.tool_calls[pair.made].arguments
        differences = "; ".join(_list_differences(call["args"], given))
        return [f"Tool called with unexpected arguments: {call['tool']}: {differences}"]
    lines = [f"Expected call not found: {format_expected_call(call)}"]
    # A title is told first: whoever wrote it means that tool.
    if reason := _nearest_title(call["tool"], evidence) or explain_not_offered(
        call["tool"], evidence
    ):
        lines.append(f"  {reason}")
    elif other := find_similar_tool(call["tool"], evidence):
        lines.append(
            f"  {format_tool_name(other.name, evidence)} was called, which a model can take for it."
        )
    return lines


def _list_differences(args: JsonObject, given: JsonObject) -> list[str]:
    """Return the top-level arguments that do not match fully, each with the given value.

    All are returned if one matcher covers them.
    """
    if is_matcher(args):
        return [
            _format_difference(part.path or "all", part.expected, part.actual)
            for part in find_differences(args, given)
        ]
    return [
        _format_difference(name, part, value)
        for name, part in args.items()
        if score_match(part, value := given.get(name, ABSENT)) < 1
    ]


def _format_difference(name: str, pattern: Any, value: Any) -> str:
    why = explain_unlike(pattern, value)
    wanted, given = describe_pattern(pattern, 60), format_value(value, 60)
    return f"{name} expected {wanted}, got {given}{f' ({why})' if why else ''}"


def _nearest_title(name: str, evidence: Evidence) -> str | None:
    """Return what to write instead of a display name, if the server has a tool of that title."""
    if evidence.tools.get(name) is not None:
        return None
    titles = {tool.title.casefold(): tool.name for tool in evidence.tools.tools if tool.title}
    own = titles.get(name.replace("_", " ").casefold())
    if own is not None:
        return f"{name} is only the title of the tool {own}: write {own}."
    known = (tool.name for tool in evidence.tools.tools)
    near = did_you_mean(name.lower().replace("-", "_"), known)
    return f"There is no tool {name} on this server. {near}" if near else None


def _choose_hint(grades: _Grades, faith: Faithfulness) -> str:
    worst = min(grades.selection, grades.arguments, faith.score)
    # First: the arguments of a call that was not made score 0 as well.
    if grades.selection == worst:
        return (
            "Say in the tool's description when it is to be used, with the words that people ask "
            "in."
        )
    if grades.arguments == worst:
        return (
            "Describe the parameters: their format, their values, an example; or name fewer "
            "arguments in the test."
        )
    if faith.judgement is None:
        return (
            "Let the tool return what people ask for in words they use; a real judge "
            "(--judge-model) reads meaning."
        )
    return (
        "See in the transcript (--debug) what the tools returned, and whether the answer could "
        "have been in it."
    )


GRADED = FunctionKind(
    name="graded",
    needs_model=True,
    schema=long_form(
        {
            "expected": {"type": "array", "items": CALL, "maxItems": MAX_EXPECTED},
            "keywords": {"type": "array", "items": TEXT},
            "threshold": {**SHARE, "default": THRESHOLD},
            "model": TEXT,
        },
        required=("expected",),
    ),
    read=make_single_reader(_read_params),
    judge=_judge_grades,
    # Without a judge, a deterministic score replaces faithfulness.
    needs_judge=False,
    # Without expected calls, none need succeed.
    traits=lambda params: (
        "grades",
        "expects_calls",
        *(() if params["expected"] else ("no_success",)),
    ),
    wanted_calls=lambda params: listed_calls(params, "expected"),
    # With matchers for what it grades in full.
    valid_calls=lambda params: ((tool, as_matcher(args)) for tool, args in described_calls(params)),
    doc=CheckDoc(
        section="Judged",
        asks=(
            "the mean of tool selection, argument match and faithfulness is at "
            "`threshold` (0.7) or above; what a row of a CSV dataset becomes"
        ),
        fails=("Overall score 0.42 is below 0.7: …",),
        example=(
            "graded: {expected: [{tool: get_order, args: {id: 7}}], keywords: [shipped], "
            "threshold: 0.7}"
        ),
    ),
)
