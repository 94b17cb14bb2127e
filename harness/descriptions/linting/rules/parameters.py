"""Rules on parameters: whether a model can know which values they take."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from harness.descriptions.linting.findings import (
    WITHOUT_EXAMPLES,
    Family,
    LintFinding,
    Rule,
    reported_evidence,
)
from harness.descriptions.linting.parameter_texts import read_parameter_texts
from harness.models import (
    Param,
    add_description,
    iterate_params,
    read_params,
    split_words,
    word_set,
)
from harness.runner import split_sentences
from harness.types import Tool, ToolList, dataclass

_IDENTIFIES = word_set("id key code sku ref reference identifier")
_SAYS_FORM = word_set("uuid guid udid")
_ALSO_OTHERWISE = word_set("key code ref reference")
"""Words that by themselves need not identify anything: source code, the key of a cache."""
_NO_RECORD = word_set(
    "source python js javascript html css sql shell bash script program code api secret access "
    "private public encryption auth password verification sort cache partition foreign primary "
    "metadata config settings env json map storage old search postal zip"
)
"""Words before "key" and "code" where these are no record's."""
_ID_FORM = re.compile(
    r"\b(?:[UG]UID|UDID|ULID|ARN|SHA(?:-?\d+)?|hash|hex(?:adecimal)?|base ?(?:58|64)|digits?"
    r"|(?:alpha)?numeric|UR[LIN]|prefix(?:ed)?|(?:start|begin)(?:s|ning|ing)? with|format(?:ted)?"
    r"|ISO|IATA|ICAO|CVE|CWE|ORCID|IBAN|ISIN|PMID|branch|tag|locale|ISBN|DOI|e-?mail|username"
    r"|bundle id(?:entifier)?"
    r"|\d+[- ](?:char(?:acter)?|letter|digit)s?)\b"
    r"|\bids?,? or (?:the )?(?:full )?(?:name|title|path|handle)\b"
    r"|\b(?:name|title|path|handle)s?,? or (?:the )?ids?\b"
    r"|\b[A-Za-z]{1,12}[-_:/#]\w*\d[\w-]*|<\w+>|\{\w+\}|@\w+",
    re.IGNORECASE,
)
"""Text that says how an id is written: "UUID", "12 digits", "PROJ-123"."""
_FILLED_IN = re.compile(
    r"\bautomatically (?:injected|set|filled|provided)|\binjected by\b"
    r"|\breturned (?:by|from|when|in)\b|\b(?:as|is) returned\b|\bgenerated\b|\bread-?only\b"
    r"|-supplied\b"
    r"|\b(?:given|produced|created|provided|received|obtained|taken|copied) (?:by|in|from)\b"
    r"|\bhow to (?:obtain|find|get)\b|\b(?:will be|are|is) listed\b|\bfrom [\w-]+[._]\w"
    r"|\bfrom (?:an? |the )?(?:[\w.-]+ ){0,3}(?:results?|responses?|outputs?|listings?|details?"
    r"|steps?|calls?|tools?|search(?:es)?|list)\b",
    re.IGNORECASE,
)
"""Text of an id that no model has to send, or that says where it comes from."""
_LEFT_OUT = re.compile(
    r"\b(?:if|when|unless) (?:it is |this is )?(?:not (?:given|provided|set|specified|supplied"
    r"|passed)|none|null|empty|omitted|absent|missing|left out)\b|\bomit\b"
    r"|\bomitted\b(?=[^.]*\bdefault)|\bdefaults? (?:to|is)\b|\bdefault: \w"
    r"|\b(?:uses?|using) (?:the )?(?:current|default|latest|most recent|active)\b",
    re.IGNORECASE,
)
"""Text of an optional id that says what happens without it: a model leaves it out."""
_WORD = re.compile(r"[\w.-]*\w")
_CREATES = word_set("create add make register")
_COORDINATES = (["longitude"], ["latitude"], ["lon"], ["lng"], ["lat"])
_DATES = word_set("date day datetime timestamp since until deadline")
_ENDS = word_set("from to start end min max after before utc")  # may follow the word for a date
_DATE_FORM = re.compile(
    r"\bISO\b|[YD]{2,4}[-/.]M{2}|M{2}[-/.]D{2}|\d{4}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{4}|RFC\s?3339|epoch|unix",
    re.IGNORECASE,
)
_LISTING = re.compile(
    r"\b(?:(?:one of|allowed(?: values)?|possible values|valid values)\b:?\s+"
    r"|options?(?: are)?:?\s+(?=['\"`])|options?(?: are)?:\s+"
    # words with which prose begins too: "must be lowercase or empty"
    r"|(?:either|must be)(?::\s+|\s+(?=['\"`])))"
    r"(?P<list>[^.;\n)]{3,200})",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"(?:['\"`]?[\w-]{1,30}['\"`]?\s*(?:,|\bor\b|\|)\s*(?:or\s+)?)+['\"`]?[\w-]{1,30}['\"`]?\s*$"
)
_FEWEST_CODES = 2
_KNOWN_CODES = word_set("country countries lang language languages locale region regional")
"""Words for what has codes that everybody knows."""
_CODE = 2  # letters up to which a choice is unclear by itself; "5d" is clear, and so is "EUR"
_SHORT_WORDS = word_set(
    "no on up in go to by at am pm ok or if is me my us we id ip os ui xs sm md lg xl"
)


def check_parameters(tools: ToolList) -> Iterator[LintFinding]:
    """Yield the findings on the parameters of each tool, one for each rule."""
    read = {tool.name: _read_described(tool) for tool in tools.tools}
    known = _ListContext(
        tools=frozenset(read),
        shown=frozenset(
            param.name
            for params in read.values()
            for _, param in params
            if len(split_words(param.name)) > 1 and _shows_form(param)
        ),
    )
    for tool in tools.tools:
        for rule, (problem, find) in _CHECKS.items():
            if paths := tuple(find(tool, read[tool.name], known)):
                yield LintFinding(
                    rule=rule,
                    tool=tool.name,
                    parameters=paths,
                    problem=problem,
                    message=f"{problem}: {', '.join(paths)}.",
                    advice=_describe_first(paths) if rule == "undescribed-parameter" else None,
                )


def _read_described(tool: Tool) -> tuple[tuple[str, Param], ...]:
    """Return each parameter with its path, described by the tool's text where not by its own."""
    params = tuple(iterate_params(read_params(tool)))
    said = read_parameter_texts(tool.description, [param.name for _, param in params])

    def describe(param: Param) -> Param:
        text = said.texts.get(param.name, "")
        # What the tool's text adds counts beside the parameter's own description.
        if text and text not in param.description:
            param = add_description(param, f"{param.description}\n{text}".strip())
        if param.name in said.shown:
            param = replace(param, examples=(*param.examples, said.shown[param.name]))
        return param

    return tuple((path, describe(param)) for path, param in params)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ListContext:
    """What a model knows from the rest of the list."""

    tools: frozenset[str]
    """Names of all tools."""
    shown: frozenset[str]
    """Names of parameters whose form some tool of the list shows."""


_Params = Sequence[tuple[str, Param]]
_Find = Callable[[Tool, _Params, _ListContext], Iterable[str]]
"""Yields the paths of the parameters that break a rule."""


def _find_where(is_wrong: Callable[[Param], bool]) -> _Find:
    return lambda _tool, params, _known: (path for path, param in params if is_wrong(param))


def _find_undeclared(tool: Tool, _params: _Params, _known: _ListContext) -> Iterator[str]:
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
    return not (
        param.description.strip()
        or param.choices
        or _is_described_inside(param)
        or _is_empty_object(param)
        or param.schema.get("readOnly") is True
        or _is_coordinate(param)
    )


def _is_empty_object(param: Param) -> bool:
    """Whether nothing can be said in it: ``params`` of a tool that takes none."""
    return param.kind == "object" and param.schema.get("properties") == {}


def _is_coordinate(param: Param) -> bool:
    """Whether it is a longitude or a latitude, alone or as ``minLongitude``."""
    return param.kind == "number" and split_words(param.name)[-1:] in _COORDINATES


def _is_described_inside(param: Param) -> bool:
    """Whether it only wraps parameters that are described: ``params`` of every tool."""
    inside = param.properties
    return bool(inside) and not any(map(_is_undescribed, inside))


def _is_text(param: Param) -> bool:
    return param.kind == "string" and not param.choices


def _find_ids_without_form(tool: Tool, params: _Params, known: _ListContext) -> Iterator[str]:
    sources = _find_sources(tool, known)
    for path, param in params:
        if (
            _is_text(param)
            and _is_id(param)
            and param.schema.get("readOnly") is not True
            and not (_shows_form(param) or _ID_FORM.search(param.description))
            and param.name not in known.shown
            and not _FILLED_IN.search(param.description)
            and not (not param.required and _LEFT_OUT.search(param.description))
            and not _is_chosen(param, tool)
            and not (len(name := split_words(param.name)) > 1 and _stand_in(name, sources))
            # The text that names a tool says where the id comes from.
            and known.tools.isdisjoint(_WORD.findall(param.description))
        ):
            yield path


def _find_sources(tool: Tool, known: _ListContext) -> list[str]:
    """Return the words of each sentence that names another tool: "find_orders shows order ids"."""
    return [
        f" {' '.join(split_words(sentence))} "
        for sentence in split_sentences(tool.description)
        if {*_WORD.findall(sentence)} & known.tools - {tool.name}
    ]


def _stand_in(name: Sequence[str], sentences: Iterable[str]) -> bool:
    return any(f" {' '.join(name)} " in sentence for sentence in sentences)


def _is_chosen(param: Param, tool: Tool) -> bool:
    """Whether it is the id or the SKU of what the call creates, which the caller chooses."""
    *before, last = split_words(param.name) or [""]
    verb, *created = split_words(tool.name) or [""]  # a name of signs alone has no words
    return verb in _CREATES and (last == "sku" or before == created)


def _is_id(param: Param) -> bool:
    *before, last = split_words(param.name) or [""]
    if before[-1:] in (["new"], ["external"]) or before[:1] == ["new"]:
        return False  # who calls chooses it
    if last in _SAYS_FORM or "trace" in before:
        return False
    if last in _ALSO_OTHERWISE:
        return bool(before) and _NO_RECORD.isdisjoint(before)
    return last in _IDENTIFIES


def _lacks_date_form(param: Param) -> bool:
    # A name that ends in a word for a date: start_date, not day_of_week.
    last = [word for word in split_words(param.name) if word not in _ENDS][-1:]
    # "waitUntil" names an event.
    waits = "wait" in split_words(param.name)
    is_date = bool(_DATES & set(last)) and _is_text(param) and not waits
    return is_date and not (_shows_form(param) or _DATE_FORM.search(param.description))


def _shows_form(param: Param) -> bool:
    return bool(
        param.examples or any(param.schema.get(key) for key in ("pattern", "format", "default"))
    )


def _lists_choices(param: Param) -> bool:
    # Values that have a form are no short list of words.
    if not _is_text(param) or param.schema.get("pattern") or param.schema.get("format"):
        return False
    found = _LISTING.search(param.description)
    return found is not None and _LISTED.match(found["list"].strip()) is not None


def _is_opaque(param: Param) -> bool:
    codes = [str(choice) for choice in param.choices if not isinstance(choice, bool)]
    told = set(re.findall(r"[\w.-]+", param.description.lower()))
    opaque = [code for code in codes if code.isdigit() or _is_code(code)]
    # With a single value there is nothing to choose. "A" and "MX" among words are known.
    if len(codes) < _FEWEST_CODES or 2 * len(opaque) < len(codes):
        return False
    if _KNOWN_CODES & {*split_words(param.name), *split_words(param.description)}:
        return False
    # 0, 1 and 2 stand for something; 7, 14 and 30, or 301 and 302, are what they are.
    numbers = sorted(int(code) for code in opaque if code.isdigit())
    if numbers and (numbers[0] > 1 or numbers[-1] - numbers[0] >= len(numbers)):
        return False
    # "Y" beside "Yes" is that word.
    words = [code.lower() for code in codes if len(code) > _CODE]
    return any(
        code.lower() not in told and not any(word.startswith(code.lower()) for word in words)
        for code in opaque
    )


def _is_code(text: str) -> bool:
    return text.isalpha() and len(text) <= _CODE and text.lower() not in _SHORT_WORDS


_CHECKS: Mapping[str, tuple[str, _Find]] = {
    "undescribed-parameter": ("No description", _find_where(_is_undescribed)),
    "undeclared-parameter": ("Required, but not among its properties", _find_undeclared),
    "id-without-example": ("No example or pattern shows the form of", _find_ids_without_form),
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
