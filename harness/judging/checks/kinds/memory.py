"""The check ``remembers``: the answer contains a fact that was told earlier.

Answers are compared as in question-answering evaluations: Unicode NFKC, ignoring case, punctuation
and English articles, with single spaces.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

from harness.base import InvalidValue, did_you_mean
from harness.judging.checks.evidence import Evidence
from harness.judging.checks.explaining.transcript_lines import no_answer
from harness.judging.checks.kind import (
    CheckDoc,
    CheckFinding,
    CheckKind,
    Parsed,
    build_check_result,
    passed_if,
)
from harness.judging.checks.kinds.answer_text import clip_answer
from harness.judging.checks.parsing import (
    SHARE,
    TEXT,
    long_form,
    read_mapping,
    read_share,
    read_text,
    read_texts,
)
from harness.judging.matching.json_values import format_value
from harness.judging.matching.texts import clip_text, format_line, plain_readings
from harness.types import Check, CheckResult, JsonObject, JsonPath

By: TypeAlias = Literal["substring", "exact", "recall"]
"""``substring``: any of the answers occurs. ``exact``: the whole answer is one of them. ``recall``:
the share of them that occur."""

MEASURES: tuple[By, ...] = get_args(By)
"""Every measure; the first is the default."""

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_TOLD = 12


def normalise_words(words: str, *, articles: bool = False) -> str:
    """Return ``words`` normalised for comparison; ``articles``: keep articles, as in *A*."""
    folded = _fold_words(_fold_words(words))  # twice, since a letter may decompose into others
    bare = _fold_words("".join(letter for letter in folded if not _is_punctuation(letter)))
    return " ".join((bare if articles else _ARTICLES.sub(" ", bare)).split())


def _fold_words(words: str) -> str:
    # Small letters may not be in the normal form any more, hence once more.
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", words).casefold())


def _is_punctuation(letter: str) -> bool:
    return (
        unicodedata.category(letter)[0] == "P" or letter in "$+<=>^`|~"
    )  # ASCII's, although Unicode says symbols


def occurs_in(wanted: str, answer: str, *, whole: bool = False) -> bool:
    """Return whether ``wanted`` is in ``answer``; ``whole``: whether it is all of it.

    An answer such as *A* consists of an article only; then articles count on both sides.
    """
    articles = not normalise_words(wanted)
    told = normalise_words(wanted, articles=articles)
    forms = (normalise_words(reading, articles=articles) for reading in plain_readings(answer))
    return any(told == found if whole else told in found for found in forms)


@dataclass(frozen=True, slots=True)
class RecallResult:
    """How many of the expected answers were found."""

    score: float
    """From 0 to 1."""
    missing: tuple[str, ...]
    """Those that were not found."""


def measure_recall(answers: Sequence[str], by: By, answer: str) -> RecallResult:
    """Return how well ``answer`` contains the ``answers``."""
    missing = tuple(
        wanted for wanted in answers if not occurs_in(wanted, answer, whole=by == "exact")
    )
    if by == "recall":
        return RecallResult(math.fsum((len(answers), -len(missing))) / len(answers), missing)
    return RecallResult(float(len(missing) < len(answers)), missing)


def _read_params(value: Any) -> JsonObject:
    if not isinstance(value, Mapping):
        return _check_params({"answers": value}, ())
    found = read_mapping(value, (), required=("answers",), optional=("by", "at_least"))
    return _check_params(found, ("answers",))


def _check_params(found: dict[str, Any], path: JsonPath) -> JsonObject:
    given = found["answers"]
    answers = (
        [read_text(given, path, "answer")]
        if isinstance(given, str)
        else read_texts(given, path, "answer")
    )
    for index, answer in enumerate(answers):
        # Of punctuation alone nothing would be left, which is in every answer.
        if not normalise_words(answer, articles=True):
            place = path if isinstance(given, str) else (*path, index)
            raise InvalidValue(
                f"nothing is left of {format_value(answer)} without punctuation", path=place
            )
    by = found.get("by", MEASURES[0])
    if by not in MEASURES:
        near = did_you_mean(str(by), MEASURES)
        raise InvalidValue(
            f"by is one of {', '.join(MEASURES)}, not {format_value(by)}", path=("by",), meant=near
        )
    return {
        **found,
        "answers": answers,
        "by": by,
        "at_least": read_share(found.get("at_least", 1.0), ("at_least",)),
    }


_ANSWERS: JsonObject = {"anyOf": [TEXT, {"type": "array", "items": TEXT, "minItems": 1}]}


class MemoryKind(CheckKind):
    """Looks for facts that were told earlier."""

    name = "remembers"
    doc = CheckDoc(
        section="Memory",
        asks=(
            "the answer holds what was told earlier. `by: substring`: any of the "
            "`answers` stands in it; `by: exact`: it is one of them and nothing else; "
            "`by: recall`: the share of them that stands in it is `at_least` that"
        ),
        fails=(
            "Answer does not hold what should be remembered: …",
            "Answer is not exactly …",
            "Not everything is remembered: 2 of 3 …",
        ),
        example=(
            "remembers: {answers: [Nine Winters, The Salt Ledger], by: recall, at_least: "
            "0.5}  # short: Lisbon, or [Lisbon, Lisboa]"
        ),
    )
    schema: JsonObject = {  # noqa: RUF012 - read-only, as every JSON Schema here
        "anyOf": [
            *_ANSWERS["anyOf"],
            long_form(
                {
                    "answers": _ANSWERS,
                    "by": {"enum": list(MEASURES), "default": MEASURES[0]},
                    "at_least": SHARE,
                },
                required=("answers",),
            ),
        ]
    }

    def parse(self, value: Any) -> Parsed:
        """Return the one check that ``value`` asks for.

        Raises:
            InvalidValue: with the path to the invalid part.
        """
        return (((), _read_params(value)),)

    async def evaluate(self, check: Check, evidence: Evidence) -> CheckResult:
        """Compare."""
        params = check.params
        found = measure_recall(params["answers"], params["by"], evidence.transcript.answer)
        return replace(
            build_check_result(check, _build_finding(params, found, evidence)), score=found.score
        )


def _build_finding(params: JsonObject, found: RecallResult, evidence: Evidence) -> CheckFinding:
    answers, by = params["answers"], params["by"]
    passed = found.score >= params["at_least"]
    return CheckFinding(
        label=clip_text(", ".join(format_value(answer, 40) for answer in answers), 80),
        verdict=passed_if(passed),
        expected={"answers": answers, "by": by, "at_least": params["at_least"]},
        actual=clip_answer(evidence),
        explanation=() if passed else _explain_finding(params, found, evidence),
        hint=None if passed else _choose_hint(by, found, evidence),
    )


def _explain_finding(params: JsonObject, found: RecallResult, evidence: Evidence) -> list[str]:
    answers, answer = params["answers"], evidence.transcript.answer
    said = (
        f"The answer is: “{format_line(answer, 240)}”"
        if answer.strip()
        else no_answer(evidence.transcript)
    )
    if params["by"] == "recall":
        told = len(answers) - len(found.missing)
        bound = f"recall {found.score:.2f}, at least {params['at_least']:.2f} expected"
        return [
            (
                f"Not everything is remembered: {told} of {len(answers)} ({bound}); missing: "
                f"{_format_answers(found.missing)}"
            ),
            said,
        ]
    first = "Answer is not exactly" if params["by"] == "exact" else "Answer does not hold"
    which = _format_answers(answers) if len(answers) == 1 else f"any of {_format_answers(answers)}"
    return [f"{first} what should be remembered: {which}", said]


def _format_answers(answers: Sequence[str]) -> str:
    shown = ", ".join(format_value(answer, 60) for answer in answers[:_TOLD])
    return shown if len(answers) <= _TOLD else f"{shown} and {len(answers) - _TOLD} more"


def _choose_hint(by: By, found: RecallResult, evidence: Evidence) -> str:
    if by == "exact" and any(
        occurs_in(wanted, evidence.transcript.answer) for wanted in found.missing
    ):
        return (
            "It stands in the answer among other words: ask for nothing but the value, or "
            "compare by substring."
        )
    stored = " ".join(call.text for call in evidence.transcript.tool_calls[-1:])
    if any(occurs_in(wanted, stored) for wanted in found.missing):
        return (
            "The last tool result held it and the answer does not: the model had it and did not "
            "say it."
        )
    return (
        "See in the transcript (--debug) whether it was stored when it was told, and looked up "
        "when it was asked for."
    )


REMEMBERS = MemoryKind()
