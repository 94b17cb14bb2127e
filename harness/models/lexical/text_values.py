"""The values that a text holds: everything in it that could become an argument.

Values are found by their form alone, the most certain forms first: quoted text is not searched
further, an e-mail address is not also a name, a date is not also a number.
"""

from __future__ import annotations

import re
from datetime import date
from itertools import islice
from typing import Literal, TypeAlias

from harness.models.lexical.dates import Period, find_calculations, find_periods
from harness.models.tool_text.actions import is_question_word, is_verb
from harness.models.tool_text.terms import is_stop_word
from harness.types import dataclass

Kind: TypeAlias = Literal[
    "sql",
    "calculation",
    "quoted",
    "url",
    "email",
    "phone",
    "tag",
    "zone",
    "glob",
    "path",
    "file",
    "period",
    "time",
    "id",
    "number",
    "name",
    "code",
]
"""The form of a value:

- ``sql``: an SQL statement, its verb in capitals. ``calculation``: ``17 * 23``; its
  numbers are values as well.
- ``quoted``: between quotation marks, taken as it is.
- ``tag``: ``#general`` or ``@jo``.
- ``zone``: ``Europe/Berlin``. ``glob``: ``*.py``. ``path``: ``/srv/data``. ``file``: ``notes.txt``.
- ``period``: a day, a month, last year. ``time``: ``14:30`` (as such, whatever was written).
- ``id``: letters and digits, ``CUST_00042``. ``phone``: ``+1 619 555-0148``.
- ``number``: with what it counts. ``name``: ``Maria Keller``. ``code``: a word in capitals,
  ``AAPL``."""

Measure: TypeAlias = Literal["", "%", "$"]
"""The unit of a number: unknown, percent, or money of any currency."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextValue:
    """A part of a text that could become an argument."""

    kind: Kind
    """Its form."""
    text: str
    """The value as written, without quotation marks."""
    start: int
    """Where it begins in the text."""
    end: int
    """Where it ends."""
    number: float | int = 0
    """The number, for ``number``."""
    measure: Measure = ""
    """Percent, money or unknown, for ``number``."""
    unit: str = ""
    """For ``number``: the word after it, in lower case."""
    period: Period | None = None
    """The days, for ``period``."""


_MOST_VALUES = 100  # a request does not have more of them
_MOST_CALCULATIONS = 10

_MOST_DIGITS = 15  # a number with more digits is not exact
_NUMBER_WORDS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8}
_NUMBER_WORDS |= {"nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "dozen": 12, "fifteen": 15}
_NUMBER_WORDS |= {"twenty": 20, "thirty": 30, "fifty": 50, "hundred": 100}
_SCALES = {"k": 1e3, "thousand": 1e3, "bn": 1e9, "billion": 1e9}
_SCALES |= {"m": 1e6, "mn": 1e6, "million": 1e6}

_NUMBER = re.compile(
    r"(?<![\w.,-])(?P<sign>[-−]?)(?P<money>[$€£¥]?)\s?(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?P<scale>\s?(?:k|m|mn|bn|thousand|million|billion)\b)?(?![\w]|\.\d)"
    r"(?:\s?(?P<measure>%|percent\b|per "
    r"cent\b|dollars?\b|euros?\b|pounds?\b|usd\b|eur\b|gbp\b|[€£$]))?"
    r"(?:[\s-](?P<unit>[^\W\d_]+))?",
    re.IGNORECASE,
)
_NUMBER_WORD = re.compile(
    r"\b(?P<word>" + "|".join(_NUMBER_WORDS) + r")\b(?:[\s-](?P<unit>[^\W\d_]+))?", re.IGNORECASE
)
_TIME = re.compile(
    r"(?<![\w:.])(?P<hour>[01]?\d|2[0-3])(?::(?P<minute>[0-5]\d))?\s?(?P<half>[ap]\.?m\b)?(?![\w:])",
    re.IGNORECASE,
)
_CAPITAL = r"[A-Z][^\W\d_]*(?:['’-][A-Z][^\W\d_]*)*"
_NAME = re.compile(rf"(?<!\w){_CAPITAL}(?:\s(?:(?:de|da|van|von|der|la|of)\s)?{_CAPITAL})*(?!\w)")
_CODE = re.compile(r"(?<![\w/&])[A-Z]{2,6}(?![\w/&])")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n]\s*|[-*•]\s+)$")

_SQL = re.compile(
    r"\b(?:SELECT\s|INSERT\s+INTO\s|UPDATE\s+\S+\s+SET\s|DELETE\s+FROM\s|(?:CREATE|DROP|ALTER)\s+TABLE\s|WITH\s+\w+\s+AS\s)"
    r"[^;\n\"`]{1,2000}?(?=[;\n\"`]|\.?\s*\Z|[.?!]\s+[A-Z])"
)
_PLAIN: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "quoted",
        re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|`([^`\n]+)`|(?<!\w)['‘]([^'’\n]+)['’](?!\w)"),
    ),
    ("url", re.compile(r"(?:https?|ftp|file)://[^\s<>\"'`]*[^\s<>\"'`.,;:!?)]", re.IGNORECASE)),
    ("email", re.compile(r"[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+")),
    (
        "phone",
        re.compile(
            r"(?<![\w.,/-])(?:\+\d|\(\d{2,5}\)\s?\d|0\d|\d{3}[-.]\d{3})(?:[ "
            r"()./-]{0,2}\d){5,12}(?![\w.,-]*\d)"
        ),
    ),
    ("tag", re.compile(r"(?<![\w#@/&])[#@][^\W\d_][\w-]*")),
    (
        "zone",
        re.compile(
            r"(?<![\w/])[A-Z][A-Za-z]{2,}(?:/[A-Z][A-Za-z]*(?:[_-][A-Z]?[a-z]+)*)+(?![\w/])"
        ),
    ),
    ("glob", re.compile(r"(?<!\w)[\w./-]{0,80}\*[\w.*/-]{1,80}")),
    (
        "path",
        re.compile(
            r"(?<![\w/])(?:~|\.{1,2})?/(?:[\w.@+-]*[\w@+-]/?)*|(?<!\w)[A-Za-z]:\\[\w.\\-]*\w"
        ),
    ),
    ("file", re.compile(r"(?<![\w/@-])[\w-]+(?:/[\w.-]+)*\.[A-Za-z][A-Za-z0-9]{0,4}(?![\w@/])")),
    (
        "id",
        re.compile(
            r"(?<![\w-])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?!\w)"
            r"|(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[^\W\d_])[^\W_]+(?:[_-][^\W_]+)*(?![\w%])"
        ),
    ),
)


def find_values(text: str, today: date) -> tuple[TextValue, ...]:
    """Return the values in ``text``, in its order; relative dates count from ``today``."""
    found = [_build_value("sql", match) for match in _SQL.finditer(text)][:_MOST_VALUES]
    # The order is that of certainty: what is found earlier cannot be part of another value.
    for kind, pattern in _PLAIN[:-1]:
        _add_values(found, [_build_value(kind, match) for match in pattern.finditer(text)])
    periods = [
        TextValue(kind="period", text=text[p.start : p.end], start=p.start, end=p.end, period=p)
        for p in find_periods(text, today)
    ]
    _add_values(found, periods)
    # Before numbers, of which a time consists.
    _add_values(found, _find_times(text))
    rolling = [value for value in found if value.period is not None and value.period.rolling]
    # Apart, so that they do not hide the numbers in them: "the last 180 days" is a period, and 180
    # is also a number.
    firm = [value for value in found if value not in rolling]
    _add_values(firm, _find_numbers(text))
    # Ids after numbers: "5k" has a digit and a letter, too.
    kind, pattern = _PLAIN[-1]
    _add_values(firm, [_build_value(kind, match) for match in pattern.finditer(text)])
    found = [*firm, *rolling]
    # After numbers and patterns of files, which a formula may hold or look like.
    found = _add_calculations(found, text)
    _add_values(found, [_build_value("code", match) for match in _CODE.finditer(text)])
    _add_values(found, _find_names(text))
    return tuple(sorted(found, key=lambda value: (value.start, value.end)))


def _add_values(found: list[TextValue], more: list[TextValue]) -> None:
    """Add the values that do not overlap those found before."""
    # Bounded, since each new value is compared with all others.
    fitting = (v for v in more if not any(v.start < old.end and old.start < v.end for old in found))
    found += list(islice(fitting, max(0, _MOST_VALUES - len(found))))


def _add_calculations(found: list[TextValue], text: str) -> list[TextValue]:
    """Add formulas that are not part of another value; ``2*3`` is then not a file pattern."""
    numbers = _find_numbers(text)
    for one in islice(find_calculations(text), _MOST_CALCULATIONS):
        within = [value for value in found if one.start < value.end and value.start < one.end]
        if all(value.kind in ("number", "glob") for value in within):
            found = [value for value in found if value.kind != "glob" or value not in within]
            formula = one.expression
            found.append(TextValue(kind="calculation", text=formula, start=one.start, end=one.end))
            inside = (v for v in numbers if one.start <= v.start and v.end <= one.end)
            found += [value for value in inside if value not in found]
    return found


def _build_value(kind: Kind, match: re.Match[str]) -> TextValue:
    inside = next((group for group in match.groups() if group is not None), match[0])
    return TextValue(kind=kind, text=inside, start=match.start(), end=match.end())


def _find_times(text: str) -> list[TextValue]:
    found = []
    for match in _TIME.finditer(text):
        if match["minute"] is None and match["half"] is None:
            continue  # a bare number
        hour = int(match["hour"])
        if match["half"] is not None:
            hour = hour % 12 + (12 if match["half"].lower().startswith("p") else 0)
        clock = f"{hour:02}:{match['minute'] or '00'}"
        found.append(TextValue(kind="time", text=clock, start=match.start(), end=match.end()))
    return found


def _find_numbers(text: str) -> list[TextValue]:
    found = []
    for match in _NUMBER.finditer(text):
        digits = match["digits"].replace(",", "")
        is_exact = "." not in digits and len(digits) <= _MOST_DIGITS
        number: float | int = int(digits) if is_exact else float(digits)
        scale = _SCALES.get((match["scale"] or "").strip().lower())
        if scale is not None:
            number = number * scale
        if match["sign"]:
            number = -number
        found.append(_build_number(match, number, _find_measure(match)))
    spelled = (
        (match, _NUMBER_WORDS[match["word"].lower()]) for match in _NUMBER_WORD.finditer(text)
    )
    return [*found, *(_build_number(match, number, "") for match, number in spelled)]


def _build_number(match: re.Match[str], number: float, measure: Measure) -> TextValue:
    end = match.end() if match["unit"] is None else match.start("unit")
    return TextValue(
        kind="number",
        text=match[0][: end - match.start()].strip(" -"),
        start=match.start(),
        end=len(match.string[:end].rstrip(" -")),
        number=int(number) if float(number).is_integer() else number,
        measure=measure,
        unit=(match["unit"] or "").lower(),
    )


def _find_measure(match: re.Match[str]) -> Measure:
    word = (match["measure"] or "").lower()
    if word.startswith(("%", "per")):
        return "%"
    return "$" if word or match["money"] else ""


def _find_names(text: str) -> list[TextValue]:
    """Return proper names; a capital letter at the beginning of a sentence does not count."""
    found = []
    for match in _NAME.finditer(text):
        start, parts = match.start(), match[0]
        # "Show Maria Keller" begins with a verb that is no part of the name.
        while parts and _opens_sentence(text, start, parts):
            first, _, parts = parts.partition(" ")
            start += len(first) + 1
        if parts and not (is_stop_word(parts.lower()) or is_question_word(parts.lower())):
            found.append(TextValue(kind="name", text=parts, start=start, end=match.end()))
    return found


def _opens_sentence(text: str, start: int, parts: str) -> bool:
    first, _, rest = parts.partition(" ")
    word = first.lower()
    if is_verb(word) or is_stop_word(word) or is_question_word(word):
        return True
    # A few characters before it are enough to tell where a sentence begins.
    begins = _SENTENCE_START.search(text[max(0, start - 8) : start]) is not None
    return begins and not rest and not text[start + len(first) :].startswith(("'s", "’s"))
