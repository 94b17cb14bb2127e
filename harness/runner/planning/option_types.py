"""The types of options: how a value is read from a text, which are accepted, and what is expected.

Only the standard library is imported: each start of pytest loads this module.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any


def _return_as_is(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class OptionType:
    """The values that an option takes."""

    expected: str
    """What a value is, in words that follow "expected"."""
    accepts: Callable[[Any], bool]
    """Returns whether an option takes this value."""
    parse: Callable[[str], Any] = _return_as_is
    """Returns the value that a text stands for. What stands for none is returned as it is, or
    raises `ValueError` with the reason."""
    convert: Callable[[Any], Any] = _return_as_is
    """Returns an accepted value in the code's own unit and form."""
    takes_file: bool = False
    """Whether ``@FILE`` stands for the text in a file."""


def parse_number(text: str) -> int | float | str:
    """Return the number that ``text`` is, an integer if it is one; else the text."""
    for read in (int, float):
        with suppress(ValueError):
            return read(text)
    return text


def number_type(
    *, least: int, most: float = math.inf, whole: bool = True, divisor: int = 1
) -> OptionType:
    """Return the type of a number within bounds; it is never infinite or not a number.

    ``divisor`` is the number of its units in one unit of the code, which has seconds.
    """
    kind = "a whole number" if whole else "a number"
    bounds = f"of at least {least}" if most == math.inf else f"from {least} to {most}"

    def accepts(value: Any) -> bool:
        # `True` is an int in Python.
        number = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
        # NaN is within no bounds, but infinity is where there is no upper one.
        return number and least <= value <= most and value != math.inf

    return OptionType(
        f"{kind} {bounds}",
        accepts,
        parse_number,
        _return_as_is if divisor == 1 else lambda value: value / divisor,
    )


def choice_type(*words: str) -> OptionType:
    """Return the type of one of ``words``."""
    return OptionType(
        f"one of {', '.join(words)}", lambda value: isinstance(value, str) and value in words
    )


def _is_shard(value: Any) -> bool:
    match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", value) if isinstance(value, str) else None
    return match is not None and 1 <= int(match[1]) <= int(match[2])


MOST_IN_A_PROCESS = 1000
"""Most trials at the same time in one process; engines with several processes spread more."""
MOST_TRIALS = 1000
"""Trials of one case."""


def _ends(value: int | str) -> tuple[int | None, int]:
    """Return the least trials (``None`` if all are run) and the most, which are 0 of no range."""
    if isinstance(value, int):
        return None, value
    match = re.fullmatch(r"(\d{1,4})\.\.(\d{1,4})", value)
    return (int(match[1]), int(match[2])) if match else (None, 0)


def _is_trial_range(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return False
    least, most = _ends(value)
    return 1 <= (most if least is None else least) <= most <= MOST_TRIALS


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        wrong = f"this is not JSON: {error}. Give a JSON object, or on a terminal @file with one."
        raise ValueError(wrong) from error


def read_option_file(name: str) -> str:
    """Return the text of the file that stands for a value.

    Raises:
        ValueError: it cannot be read.
    """
    try:
        return Path(name).read_text("utf-8")
    except OSError as error:
        wrong = f"{name} cannot be read: {error.strerror}. Give @file with a JSON object."
        raise ValueError(wrong) from error


TEXT = OptionType("a text", lambda value: isinstance(value, str))
FILE = OptionType("a path", lambda value: isinstance(value, str | os.PathLike), convert=str)
FLAG = OptionType(
    "True or False",
    lambda value: isinstance(value, bool),
    lambda text: {"true": True, "false": False}.get(text.lower(), text),
)
SHARD = OptionType("I/N with 1 ≤ I ≤ N, for example 2/3", _is_shard)
TRIAL_RANGE = OptionType(
    f"a whole number from 1 to {MOST_TRIALS}, or a range such as 3..10",
    _is_trial_range,
    parse_number,
    _ends,
)
ATTRIBUTES = OptionType(
    "a JSON object such as {'role': 'admin'}",
    lambda value: isinstance(value, Mapping),
    _parse_json,
    takes_file=True,
)

NOT_A_FILE: Mapping[Any, str] = {
    "pytest": "a leaderboard is no file that pytest collects",
    "page": "a leaderboard is no file that can be uploaded",
}
"""Why some entrances have no options of leaderboards."""
