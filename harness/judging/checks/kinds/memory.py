"""The check ``remembers``: the answer contains a fact that was told earlier.

Answers are compared as in question-answering evaluations: Unicode NFKC, ignoring case, punctuation
and English articles, with single spaces.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, get_args

from harness.base import InvalidValue, did_you_mean
from harness.judging.checks.explaining.transcript_lines import quote_answer
from harness.judging.checks.kind import (
    NOTHING_WRONG,
    CheckDoc,
    CheckFinding,
    Evidence,
    FunctionKind,
    make_single_reader,
)
from harness.judging.checks.kinds.answer_text import clip_answer
from harness.judging.checks.parsing import (
    SHARE,
    TEXT,
    either_form,
    read_either_form,
    read_share,
    read_text,
    read_texts,
)
from harness.judging.matching.json_values import format_value
from harness.judging.matching.texts import clip_text, plain_readings
from harness.types import JsonObject, JsonPath, dataclass

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
    # The latter are ASCII's, although Unicode calls them symbols.
    return unicodedata.category(letter)[0] == "P" or letter in "$+<=>^`|~"


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


def _read_answers(given: Any, path: JsonPath) -> list[str]:
    if isinstance(given, str):
        return [_read_fact(given, path)]
    answers = read_texts(given, path, "answer")
    return [_read_fact(answer, (*path, index)) for index, answer in enumerate(answers)]


def _read_fact(value: str, path: JsonPath) -> str:
    answer = read_text(value, path, "answer")
    # Of punctuation alone nothing would be left, which is in every answer.
    if not normalise_words(answer, articles=True):
        words = f"nothing is left of {format_value(answer)} without punctuation"
        raise InvalidValue(words, path=path)
    return answer


def _read_params(value: Any) -> JsonObject:
    found = read_either_form(value, (), "answers", _read_answers, optional=("by", "at_least"))
    by = found.get("by", MEASURES[0])
    if by not in MEASURES:
        near = did_you_mean(str(by), MEASURES)
        raise InvalidValue(
            f"by is one of {', '.join(MEASURES)}, not {format_value(by)}", path=("by",), meant=near
        )
    at_least = read_share(found.get("at_least", 1.0), ("at_least",))
    return {**found, "by": by, "at_least": at_least}


def _judge_memory(params: JsonObject, evidence: Evidence) -> CheckFinding:
    answers, by = params["answers"], params["by"]
    found = measure_recall(answers, by, evidence.transcript.answer)
    why = NOTHING_WRONG
    if found.score < params["at_least"]:
        why = _explain_finding(params, found, evidence), _choose_hint(by, found, evidence)
    return CheckFinding(
        label=clip_text(", ".join(format_value(answer, 40) for answer in answers), 80),
        expected={"answers": answers, "by": by, "at_least": params["at_least"]},
        actual=clip_answer(evidence),
        why=why,
        score=found.score,
    )


def _explain_finding(params: JsonObject, found: RecallResult, evidence: Evidence) -> list[str]:
    answers = params["answers"]
    said = quote_answer(evidence.transcript, "The answer is")
    if params["by"] == "recall":
        told = len(answers) - len(found.missing)
        bound = f"recall {found.score:.2f}, at least {params['at_least']:.2f} expected"
        first = f"Not everything is remembered: {told} of {len(answers)} ({bound})"
        return [f"{first}; missing: {_format_answers(found.missing)}", said]
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


REMEMBERS = FunctionKind(
    name="remembers",
    needs_model=True,
    schema=either_form(
        "answers",
        {"anyOf": [TEXT, {"type": "array", "items": TEXT, "minItems": 1}]},
        by={"enum": list(MEASURES), "default": MEASURES[0]},
        at_least=SHARE,
    ),
    read=make_single_reader(_read_params),
    judge=_judge_memory,
    doc=CheckDoc(
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
    ),
)
