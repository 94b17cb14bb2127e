"""How well a value in a request fits a parameter.

A score tells how certain a fit is. A value with at least `PLAUSIBLE` fills a required parameter; an
optional one takes at least `CONVINCING`, since it is better left out than guessed. The form counts
(a pattern, an example of the same shape, a format), and so do the words around the value: "over
$500" is a minimum, "to branch main" a branch.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from harness.base import BrokenPattern, search_pattern
from harness.models.lexical.choices import ArgumentMatch
from harness.models.lexical.dates import find_zone
from harness.models.lexical.text_parsing import NearbyWords, Scored, fit_number, fit_period
from harness.models.lexical.text_values import Kind, TextValue
from harness.models.tool_text.parameters import Param
from harness.models.tool_text.terms import extract_terms, term_set

# Scores here and below were set with the prompts that the baseline was developed on.
PLAUSIBLE = 0.5
"""Lowest score for a required parameter."""
CONVINCING = 3.0
"""Lowest score for an optional parameter."""

_LONGEST_PATTERN = 200
_EXCLUDES = term_set("exclude except ignore skip omit") | {"not"}
_ZONES = term_set("timezone zone") | {"tz"}
_SOURCE = term_set("source from origin base")
_TARGET = term_set("target destination to")

_LIKE: Mapping[Kind, tuple[frozenset[str], float]] = {
    "sql": (term_set("sql query statement"), 5.0),
    "calculation": (term_set("expression formula equation calculation sum "
                                            "math"), 6.0),
    "email": (term_set("email mail e-mail"), 4.0),
    "url": (term_set("url uri link website href address endpoint"), 4.0),
    "zone": (term_set("timezone zone tz repository repo"), 4.0),
    "path": (term_set("path file filename directory folder dir repository repo "
                                     "source "
                             "destination target"), 4.0),
    "tag": (term_set("channel tag label user assignee mention handle room hashtag "
                            "topic"), 3.5),
    "phone": (term_set("phone telephone mobile fax"), 5.0),
    "file": (term_set("path file files filename document source destination target "
                             "name"), 3.5),
    "glob": (term_set("pattern glob mask filter"), 5.0),
    "time": (term_set("time hour clock"), 4.0),
    "id": (frozenset([*extract_terms("id number code key reference sku hash revision commit"),
                      "id", "no"]), 3.0),
    "code": (term_set("code symbol ticker currency country sku abbreviation"), 3.0),
    "name": (term_set("name query search person company city country location "
                                     "place title "
                             "assignee author owner user brand region keyword term subject "
                             "language"), 1.5),
    "quoted": (term_set("message content text title comment body query name "
                                       "reason note "
                               "subject description search keyword input value label pattern "
                               "string sql prompt"), 2.0),
}  # fmt: skip
"""Kind of value → the words of parameters that take it, and the score for such a word."""

_FORMATS: Mapping[Kind, str] = {"email": "email", "url": "uri", "time": "time"}
"""Kind of value → the JSON Schema format that it has."""

_BASE: Mapping[Kind, float] = {
    "sql": 0.0, "calculation": -2.0, "quoted": 1.5, "email": 0.0, "phone": 0.0, "tag": 0.5,
    "url": 0.5, "zone": 0.5, "path": 0.5, "file": 0.5, "glob": 0.5, "time": 0.0,
    "id": 0.5, "code": 1.0, "name": 1.5, "number": 0.0, "period": 0.0,
}  # fmt: skip
"""Base score of a value for a string parameter about which nothing else is known."""

_ROLES: tuple[tuple[frozenset[str], frozenset[str]], ...] = (
    (frozenset({"from"}), term_set("source from origin start base sender old")),
    (
        frozenset({"to", "into", "onto", "as"}),
        term_set("target destination to end recipient new"),
    ),
    (
        frozenset({"in", "at", "near"}),
        term_set("city location country region place path office directory"),
    ),
    (frozenset({"by"}), term_set("author user assignee owner creator")),
)
"""A preposition before a value, and the words of the parameters that it suggests."""


def leaves_out(param: Param, value: TextValue, around: NearbyWords) -> bool:
    """Whether the request excludes ``value``, and ``param`` is not the parameter for exclusions."""
    return around.negated and value.kind != "number" and not param.name_terms & _EXCLUDES


def fit_argument(param: Param, value: TextValue, around: NearbyWords) -> ArgumentMatch | None:
    """Return ``value`` as an argument for ``param``, with its score; ``None`` if it does not fit.

    An enum takes only its members, which `choices.named_choices` finds.
    """
    if param.choices:
        return None
    # Before the kind of the parameter: a period fills texts (2024-01-01) and numbers (2024) alike.
    scored: Scored | None = None
    if value.period is not None:
        scored = fit_period(param, value, value.period)
    elif param.kind in ("number", "integer"):
        scored = fit_number(param, value, around)
    elif param.kind in ("string", "any"):
        scored = _fit_string(param, value, around)
    if scored is None:
        return None
    argument, score = scored
    return ArgumentMatch(
        argument=argument, score=score, start=value.start, end=value.end, said=value.text
    )


def _fit_string(param: Param, value: TextValue, around: NearbyWords) -> Scored | None:
    # A wrong form would only be refused by the server.
    if param.schema.get("format") == "email" and value.kind != "email":
        return None
    if param.schema.get("format") in ("date", "date-time", "time") and value.kind != "time":
        return None
    text = _find_spelling(param, value)
    if text is None:
        return None
    zone = _find_zone(param, value)
    # The zone and not the city, which the server would not know.
    if zone is not None:
        return zone, 4.0 + _zone_role(param, around)
    kinds, worth = _LIKE.get(value.kind, (frozenset[str](), 0.0))
    score = _BASE[value.kind] + (worth if kinds & param.terms else 0.0)
    score += 4.0 if param.schema.get("format") == _FORMATS.get(value.kind, "none") else 0.0
    score += 2.5 if around.negated else 0.0  # an excluded value, for the parameter for exclusions
    score += _shape_score(param, value, text) + _role_score(param, around)
    return text, score


def _find_zone(param: Param, value: TextValue) -> str | None:
    """Return the IANA time zone of a city, for a parameter that takes such names."""
    takes_zones = param.terms & _ZONES and not param.schema.get("pattern")
    if value.kind not in ("name", "quoted") or not takes_zones:
        return None
    # Examples such as CET show that the parameter takes names of another kind.
    other_names = param.examples and not any("/" in example for example in param.examples)
    return None if other_names else find_zone(value.text)


def _zone_role(param: Param, around: NearbyWords) -> float:
    """Score which of two time zones a city is: that of the given time, or the target."""
    role = _role_score(param, around)
    if role:
        return role
    if around.asked:
        return 1.5 if param.name_terms & _TARGET else 0.0
    told = around.follows == "time" or around.leads == "time"
    return 1.5 if told and param.name_terms & _SOURCE else 0.0


def _find_spelling(param: Param, value: TextValue) -> str | None:
    """Return the value in the spelling that the parameter accepts, or ``None`` if there is none."""
    upper, lower = value.text.upper(), value.text.lower()
    spellings = [value.text, upper, lower]
    # The case of the example first: servers often compare ids letter by letter.
    if value.kind == "id":
        shown = next((one for one in param.examples if _has_shape(one, value.text)), "")
        spellings[:0] = [upper] * shown.isupper() + [lower] * shown.islower()
    pattern = _get_pattern(param)
    if pattern is None:
        return spellings[0]
    short = (text for text in spellings if len(text) <= _LONGEST_PATTERN)
    return next((text for text in short if search_pattern(pattern, text)), None)


def _shape_score(param: Param, value: TextValue, text: str) -> float:
    """Score the pattern, the examples, and whether an id's letters abbreviate the name: CUST_1."""
    # Only for these kinds: free text fits many patterns by chance.
    if value.kind in ("id", "code", "zone", "path", "file", "number") and _get_pattern(param):
        return 4.0
    if any(_has_shape(example, text) for example in param.examples):
        return 4.0
    letters = re.match(r"[^\W\d_]+", text)
    if value.kind == "id" and letters is not None and len(letters[0]) > 1:
        opening = letters[0].lower()[:4]
        return 2.0 if any(term.startswith(opening) for term in param.name_terms) else 0.0
    return -1.0 if value.kind == "number" and not param.terms & _LIKE["id"][0] else 0.0


def _role_score(param: Param, around: NearbyWords) -> float:
    """Score the words before a value: the parameter's own name, or a preposition that suits it."""
    score = 0.0
    if any(word.term in param.name_terms for word in (*around.before[-2:], *around.after[:1])):
        score += 1.5
    last = around.before[-1].text if around.before else ""
    for prepositions, pointed_to in _ROLES:
        if last in prepositions:
            score += 1.5 if (param.name_terms | param.name_words) & pointed_to else 0.0
    return score


def _has_shape(example: str, text: str) -> bool:
    """Whether ``text`` has the form of ``example``: the same letters, other digits.

    Or both are codes in capitals.
    """
    if re.search(r"\d", example):
        return _make_skeleton(example) == _make_skeleton(text)
    # Of zones and paths only the form is alike: "Asia/Tokyo" shows how "Europe/Berlin" looks.
    if "/" in example:
        return bool(re.fullmatch(r"[A-Z][A-Za-z]+(?:/[\w-]+)+", text)) and example[:1].isupper()
    return bool(re.fullmatch(r"[A-Z]{2,6}", example) and re.fullmatch(r"[A-Z]{1,6}", text))


@lru_cache(maxsize=4_000)
def _make_skeleton(text: str) -> str:
    return re.sub(r"\d+", "0", text).lower()


def _get_pattern(param: Param) -> str | None:
    """Return the pattern of the parameter's schema if it can be matched in linear time."""
    pattern = param.schema.get("pattern")
    short = isinstance(pattern, str) and len(pattern) <= _LONGEST_PATTERN
    # One that RE2 does not take is ignored: the server checks the value in any case.
    return pattern if short and _is_valid_pattern(pattern) else None


@lru_cache(maxsize=500)
def _is_valid_pattern(pattern: str) -> bool:
    try:
        search_pattern(pattern, "")
    except BrokenPattern:
        return False
    return True
