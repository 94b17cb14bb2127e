"""``wordings:`` of a test: other wordings of its prompt, which must keep its argument values.

Most failures with a paraphrase are not the model's: the paraphrase lost or changed a value that a
check expects as an argument (arXiv 2504.00914). So a wording without such a value is a mistake of
the suite.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from harness.base import TEXT, InvalidValue, array_of, build_field, parse_items, require_text
from harness.judging import Scalar, described_calls, plain_values
from harness.types import Case


class WordingFlaw(NamedTuple):
    """A problem of one wording of a case."""

    place: int
    """Index of the wording, from 0."""
    message: str
    """The problem, without a full stop."""
    meant: str
    """The advice."""


def _parse_wordings(value: Any) -> tuple[str, ...]:
    said = parse_items(partial(require_text, "other words"), value)
    if not said:
        raise InvalidValue("there are no wordings", meant="Add one: '- Other words'.")
    return said


WORDINGS = build_field(
    "Other ways to say the prompt, for 'harness workbench'; each must say the values "
    "that the checks expect as arguments.",
    array_of(TEXT, minItems=1),
    _parse_wordings,
)
"""``wordings:`` of a test."""


def find_flaws(case: Case) -> Iterator[WordingFlaw]:
    """Yield the problems of the wordings of ``case``."""
    if case.wordings and case.user is not None:
        message = f"test {case.name!r} has 'wordings', but its user is simulated and writes its own"
        yield WordingFlaw(0, f"{message} messages", "Remove 'wordings'.")
        return
    # Equal wordings would count one question twice.
    said = {case.prompt.strip(): "the prompt"}
    for place, words in enumerate(case.wordings):
        name = f"wording {place + 1}"
        if same := said.get(words.strip()):
            message = f"{name} of {case.name!r} says the same as {same}"
            yield WordingFlaw(place, message, "Remove it.")
        said.setdefault(words.strip(), name)
        for value, kind in find_lost_values(case, words):
            message = f"{name} of {case.name!r} no longer says {value!r}, which {kind} expects"
            meant = "Say it as the prompt does: a wording may change words, not values."
            yield WordingFlaw(place, message, meant)


def find_lost_values(case: Case, words: str) -> list[tuple[Scalar, str]]:
    """Return the argument values that the prompt of ``case`` has and ``words`` lack.

    Each comes with the first check that expects it. A text has a value if the value occurs in it
    literally, as a whole word or number; a plain word such as ``open`` may begin with a capital.
    """
    expected: dict[Scalar, str] = {}
    for check in (one for each in case.every_check for one in each.walk()):
        for _, arguments in described_calls(check.params):
            for value in plain_values(arguments):
                # The first check that expects the value is named; one is enough to find it.
                expected.setdefault(value, check.kind)
    return [
        (value, kind)
        for value, kind in expected.items()
        # What the prompt itself does not say, the model has to find out in any wording.
        if _has_value(case.prompt, value) and not _has_value(words, value)
    ]


def _has_value(text: str, value: Scalar) -> bool:
    return any(
        # 5 must not be found in 15, 5.5 or 1,500.
        re.search(rf"(?<!\w)(?<!\d[.,]){re.escape(form)}(?!\w)(?![.,]\d)", text)
        for form in _list_spellings(value)
    )


def _list_spellings(value: Scalar) -> tuple[str, ...]:
    """Return the spellings of ``value``."""
    if isinstance(value, str):
        if not value.strip():
            return ()
        return (value, value[0].upper() + value[1:]) if value.isalpha() else (value,)
    whole = isinstance(value, float) and value.is_integer()
    return (str(value), str(int(value))) if whole else (str(value),)
