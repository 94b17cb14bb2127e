"""Rules on parameters: whether a model can know which values they take."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from harness.descriptions.linting.findings import (
    WITHOUT_EXAMPLES,
    Family,
    LintFinding,
    Rule,
    reported_evidence,
)
from harness.models import Param, iterate_params, read_params, split_words, word_set
from harness.types import Tool, ToolList

_IDENTIFIES = word_set("id key code uuid guid sku ref reference identifier")
_DATES = word_set("date day datetime timestamp since until deadline")
_ENDS = word_set("from to start end min max after before utc")  # may follow the word for a date
_DATE_FORM = re.compile(
    r"\bISO\b|[YD]{2,4}[-/.]M{2}|M{2}[-/.]D{2}|\d{4}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{4}|RFC\s?3339|epoch|unix",
    re.IGNORECASE,
)
_LISTING = re.compile(
    r"\b(?:(?:one of|allowed(?: values)?|possible values|valid values|options?)\b:?\s+"
    # words with which prose begins too: "must be lowercase or empty"
    r"|(?:either|must be)(?::\s+|\s+(?=['\"`])))"
    r"(?P<list>[^.;\n)]{3,200})",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"(?:['\"`]?[\w-]{1,30}['\"`]?\s*(?:,|\bor\b|\|)\s*(?:or\s+)?)+['\"`]?[\w-]{1,30}['\"`]?\s*$"
)
_CODE = 2  # letters up to which a choice is unclear by itself; "5d" is clear, and so is "EUR"
_SHORT_WORDS = word_set("no on up in go to by at am pm ok or if is me my us we")


def check_parameters(tools: ToolList) -> Iterator[LintFinding]:
    """Yield the findings on the parameters of each tool, one for each rule."""
    for tool in tools.tools:
        params = tuple(iterate_params(read_params(tool)))
        for rule, (problem, find) in _CHECKS.items():
            if paths := tuple(find(tool, params)):
                yield LintFinding(
                    rule=rule,
                    tool=tool.name,
                    parameters=paths,
                    message=f"{problem}: {', '.join(paths)}.",
                    advice=_describe_first(paths) if rule == "undescribed-parameter" else None,
                )


_Params = Sequence[tuple[str, Param]]
_Find = Callable[[Tool, _Params], Iterable[str]]
"""Yields the paths of the parameters that break a rule."""


def _find_where(is_wrong: Callable[[Param], bool]) -> _Find:
    return lambda _tool, params: (path for path, param in params if is_wrong(param))


def _find_undeclared(tool: Tool, _params: _Params) -> Iterator[str]:
    properties, required = tool.input_schema.get("properties"), tool.input_schema.get("required")
    declared = properties if isinstance(properties, dict) else {}
    for name in required if isinstance(required, list) else ():
        if isinstance(name, str) and name not in declared:
            yield name


def _describe_first(paths: Sequence[str]) -> str:
    first = " ".join(split_words(paths[0].rpartition(".")[2])) or paths[0]
    return f'Describe what goes in, with an example: "description": "The {first} …, such as …".'


def _is_undescribed(param: Param) -> bool:
    # Choices say what they are, or are found by `_is_opaque`.
    return not param.description.strip() and not param.choices


def _is_text(param: Param) -> bool:
    return param.kind == "string" and not param.choices


def _lacks_id_form(param: Param) -> bool:
    is_id = bool(_IDENTIFIES & set(split_words(param.name)[-1:]))
    return is_id and _is_text(param) and not _shows_form(param)


def _lacks_date_form(param: Param) -> bool:
    # A name that ends in a word for a date: start_date, not day_of_week.
    last = [word for word in split_words(param.name) if word not in _ENDS][-1:]
    is_date = bool(_DATES & set(last)) and _is_text(param)
    return is_date and not (_shows_form(param) or _DATE_FORM.search(param.description))


def _shows_form(param: Param) -> bool:
    return bool(param.examples or param.schema.get("pattern") or param.schema.get("format"))


def _lists_choices(param: Param) -> bool:
    # Values that have a form are no short list of words.
    if not _is_text(param) or param.schema.get("pattern") or param.schema.get("format"):
        return False
    found = _LISTING.search(param.description)
    return found is not None and _LISTED.match(found["list"].strip()) is not None


def _is_opaque(param: Param) -> bool:
    codes = [str(choice) for choice in param.choices if not isinstance(choice, bool)]
    told = set(re.findall(r"[\w.-]+", param.description.lower()))
    unsaid = [code for code in codes if code.lower() not in told]
    # With a single value there is nothing to choose.
    return len(codes) > 1 and any(code.isdigit() or _is_code(code) for code in unsaid)


def _is_code(text: str) -> bool:
    return text.isalpha() and len(text) <= _CODE and text.lower() not in _SHORT_WORDS


_CHECKS: Mapping[str, tuple[str, _Find]] = {
    "undescribed-parameter": ("No description", _find_where(_is_undescribed)),
    "undeclared-parameter": ("Required, but not among its properties", _find_undeclared),
    "id-without-example": ("No example or pattern shows the form of", _find_where(_lacks_id_form)),
    "date-without-format": ("Nothing says how the date is written", _find_where(_lacks_date_form)),
    "choices-in-prose": (
        "The description lists the values, the schema does not",
        _find_where(_lists_choices),
    ),
    "opaque-choices": ("Nothing says what the values stand for", _find_where(_is_opaque)),
}
"""Rule → the problem in words, and the check."""

FAMILY = Family(
    check=check_parameters,
    rules={
        "undescribed-parameter": Rule(
            severity="warning",
            why="A model fills what it does not understand with what looks plausible.",
            evidence=reported_evidence(
                "a description says what each parameter means and how it changes the call",
                "Anthropic, How to implement tool use; arXiv 2602.14878",
            ),
        ),
        "undeclared-parameter": Rule(
            severity="warning",
            why="It is required but has no type: every call is a guess.",
            instead="Declare each under 'properties', or take it out of 'required'.",
            evidence=reported_evidence(
                "Gemini refuses the request (400, property is not defined); three local models "
                "did not mind (0.0 points, agentgauge 2026)",
                "errors of the Gemini API as users report them",
            ),
        ),
        "id-without-example": Rule(
            severity="warning",
            why="Without its form, a model makes ids up or passes names in their place.",
            instead='Add "examples", a "pattern", or "…, such as ORDER_1042" to the description, '
            "and say which tool finds it.",
            evidence=WITHOUT_EXAMPLES,
        ),
        "date-without-format": Rule(
            severity="warning",
            why="05/04/2025 is a day in May or in April: models write dates as they come.",
            instead='Add "format": "date", and "YYYY-MM-DD" to the description.',
            evidence=reported_evidence(
                "from a schema alone, models cannot know how a date is written",
                "Anthropic, Advanced tool use, November 2025",
            ),
        ),
        "choices-in-prose": Rule(
            severity="warning",
            why="A model may send any text if only the description lists the allowed ones.",
            instead='List them under "enum".',
            evidence=reported_evidence(
                "use enums, so that an invalid call cannot be expressed",
                "OpenAI, Function calling guide",
            ),
        ),
        "opaque-choices": Rule(
            severity="warning",
            why="A model cannot tell which code matches the user's words.",
            instead='Use words ("celsius", not "c"), or explain each in the description: "c '
            '(Celsius), f (…)".',
            evidence=reported_evidence(
                "models do better with words than with cryptic identifiers",
                "Anthropic, Writing effective tools for agents, September 2025",
            ),
        ),
    },
)
"""The rules on parameters."""
