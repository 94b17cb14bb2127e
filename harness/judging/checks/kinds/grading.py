"""The check ``graded``: the mean of tool selection, argument match and faithfulness.

If a metric cannot be judged, the whole check is *not judged*: an error of the case, never zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.base import InvalidValue, JudgeError, did_you_mean
from harness.judging.checks.evidence import Evidence
from harness.judging.checks.explaining.presented_tools import format_tool_name
from harness.judging.checks.explaining.transcript_lines import (
    explain_not_offered,
    find_similar_tool,
    format_expected_call,
)
from harness.judging.checks.judge.faithfulness import STAND_IN, Faithfulness, grade_faithfulness
from harness.judging.checks.kind import (
    CheckDoc,
    CheckFinding,
    CheckKind,
    Parsed,
    WantedCall,
    build_check_result,
    listed_calls,
)
from harness.judging.checks.kinds.metrics import (
    CallPair,
    ComparedCall,
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
    long_form,
    read_calls,
    read_mapping,
    read_share,
    read_text,
    read_texts,
)
from harness.judging.matching.described_calls import described_calls
from harness.judging.matching.differences import find_differences
from harness.judging.matching.json_values import ABSENT, format_value, shorten_value
from harness.judging.matching.matchers import describe_pattern, explain_unlike, is_matcher
from harness.judging.matching.texts import clip_text, format_line
from harness.types import Check, CheckResult, CheckTrait, JsonObject, ToolCall

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
        raise InvalidValue(
            f"these are {len(expected)} calls; at most {MAX_EXPECTED} fit a case",
            path=("expected",),
        )
    keywords = found.get("keywords", [])
    threshold = read_share(found.get("threshold", THRESHOLD), ("threshold",))
    if "model" in found:
        read_text(found["model"], ("model",), "model")
    return {
        **found,
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


class GradedKind(CheckKind):
    """Grades a whole trial."""

    name = "graded"
    doc = CheckDoc(
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
    )
    needs_judge = False
    """Without a judge, a deterministic score replaces faithfulness."""

    schema: JsonObject = long_form(
        {
            "expected": {"type": "array", "items": CALL, "maxItems": MAX_EXPECTED},
            "keywords": {"type": "array", "items": TEXT},
            "threshold": {**SHARE, "default": THRESHOLD},
            "model": TEXT,
        },
        required=("expected",),
    )

    def parse(self, value: Any) -> Parsed:
        """Return the one check that ``value`` asks for.

        Raises:
            InvalidValue: with the path to the invalid part.
        """
        return (((), _read_params(value)),)

    def traits(self, params: JsonObject) -> Sequence[CheckTrait]:
        """Say that it grades; without expected calls, none need succeed."""
        return ("grades", "expects_calls", *(() if params["expected"] else ("no_success",)))

    def wanted_calls(self, params: JsonObject) -> Iterable[WantedCall]:
        """Return the expected calls."""
        return listed_calls(params, "expected")

    def valid_calls(self, params: JsonObject) -> Iterable[WantedCall]:
        """Return the calls with matchers for what it grades in full."""
        return ((tool, as_matcher(args)) for tool, args in described_calls(params))

    async def evaluate(self, check: Check, evidence: Evidence) -> CheckResult:
        """Grade."""
        params, problem = check.params, ""
        made = evidence.transcript.tool_calls
        expected = [
            ComparedCall(tool=call["tool"], args=call["args"]) for call in params["expected"]
        ]
        called = [ComparedCall(tool=call.tool, args=call.arguments) for call in made]
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
        return replace(
            build_check_result(check, _build_finding(params, grades, evidence, problem)),
            score=grades.overall,
        )


def _build_finding(
    params: JsonObject, grades: _Grades, evidence: Evidence, problem: str
) -> CheckFinding:
    overall, threshold = grades.overall, params["threshold"]
    found = CheckFinding(
        label=clip_text(
            ", ".join(dict.fromkeys(call["tool"] for call in params["expected"]))
            or "no tool expected",
            80,
        ),
        verdict="not_judged",
        expected={
            "calls": params["expected"],
            "keywords": params["keywords"],
            "threshold": threshold,
        },
        actual=_describe_grades(params, grades, evidence.transcript.tool_calls, problem),
    )
    if overall is None or grades.faith is None:
        return replace(found, explanation=[f"Faithfulness could not be judged: {problem}"])
    if overall >= threshold:
        return replace(found, verdict="passed")
    scores = (
        f"tool selection {_format_score(grades.selection)}, argument match "
        f"{_format_score(grades.arguments)}, "
        f"faithfulness {_format_score(grades.faith.score)}"
    )
    lines = [
        f"Overall score {_format_score(overall)} is below {_format_score(threshold)}: {scores}.",
        *_explain_calls(params["expected"], grades.pairs, evidence),
        (
            f"Faithfulness {_format_score(grades.faith.score)} ({_name_grader(grades.faith)}): "
            f"{format_line(grades.faith.explanation, 400)}"
        ),
    ]
    return replace(found, verdict="failed", explanation=lines, hint=_choose_hint(grades))


def _format_score(score: float) -> str:
    return f"{score:.2f}"


def _name_grader(faith: Faithfulness) -> str:
    return STAND_IN if faith.judgement is None else f"judge {faith.judgement.model}"


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
    wanted_call = expected[pair.expected]
    return {
        "tool": wanted_call["tool"],
        "expected": wanted_call["args"],
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
    poor = [pair for pair in pairs if pair.score < 1]
    lines = [
        part
        for pair in poor[:_MAX_TOLD]
        for part in _explain_call(expected[pair.expected], pair, evidence)
    ]
    more = len(poor) - _MAX_TOLD
    return [*lines, *([f"… and {more} more calls that are not as expected"] if more > 0 else [])]


def _explain_call(call: JsonObject, pair: CallPair, evidence: Evidence) -> list[str]:
    if pair.made is not None:
        given = evidence.transcript.tool_calls[pair.made].arguments
        return [
            (
                f"Tool called with unexpected arguments: {call['tool']}: "
                f"{'; '.join(_list_differences(call['args'], given))}"
            )
        ]
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
            (
                f"{part.path or 'all'} expected {describe_pattern(part.expected, 60)}, got "
                f"{format_value(part.actual, 60)}{_format_note(part.expected, part.actual)}"
            )
            for part in find_differences(args, given)
        ]
    return [
        f"{name} expected {describe_pattern(part, 60)}, got "
        f"{format_value(value, 60)}{_format_note(part, value)}"
        for name, part in args.items()
        if score_match(part, value := given.get(name, ABSENT)) < 1
    ]


def _format_note(pattern: Any, value: Any) -> str:
    why = explain_unlike(pattern, value)
    return f" ({why})" if why else ""


def _nearest_title(name: str, evidence: Evidence) -> str | None:
    """Return what to write instead of a display name, if the server has a tool of that title."""
    if evidence.tools.get(name) is not None:
        return None
    titles: Mapping[str, str] = {
        tool.title.casefold(): tool.name for tool in evidence.tools.tools if tool.title
    }
    own = titles.get(name.replace("_", " ").casefold())
    if own is not None:
        return f"{name} is only the title of the tool {own}: write {own}."
    near = did_you_mean(
        name.lower().replace("-", "_"), (tool.name for tool in evidence.tools.tools)
    )
    return f"There is no tool {name} on this server. {near}" if near else None


def _choose_hint(grades: _Grades) -> str:
    # A hint is given only where the check failed, which takes all three scores.
    assert grades.faith is not None
    worst = min(grades.selection, grades.arguments, grades.faith.score)
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
    if grades.faith.judgement is None:
        return (
            "Let the tool return what people ask for in words they use; a real judge "
            "(--judge-model) reads meaning."
        )
    return (
        "See in the transcript (--debug) what the tools returned, and whether the answer could "
        "have been in it."
    )


GRADED = GradedKind()
