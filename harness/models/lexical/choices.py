"""Arguments that a request names by a word: members of an enum, aliases, examples, and flags."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from typing import Any

from harness.models.lexical.dates import NAMES, count_days, find_zone, list_operators
from harness.models.lexical.text_parsing import (
    LONGEST_TEXT,
    ParsedText,
    Word,
    find_covered,
    parse_text,
)
from harness.models.lexical.text_values import TextValue
from harness.models.tool_text.actions import is_question_word, is_verb
from harness.models.tool_text.parameters import Param
from harness.models.tool_text.terms import (
    extract_terms,
    find_synonyms,
    split_words,
    stem_word,
    term_set,
    word_set,
)
from harness.types import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentMatch:
    """A value for one parameter, and where the request says it."""

    argument: Any
    """The value that is sent."""
    score: float
    """How certain the match is; see `affinity`."""
    start: int
    """Where its words begin in the request's text."""
    end: int
    """Where they end."""
    said: str
    """Its words."""


SURE = 5.0
"""Score of a value that the request names literally."""
_OTHER_WORD = 3.5  # score of a synonym of it

_DURATION = re.compile(
    r"(?P<number>\d{1,4})\s*(?P<unit>d|wk?|mo?|q|y|days?|weeks?|months?|years?)", re.IGNORECASE
)
_UNITS = {
    "d": "day",
    "w": "week",
    "wk": "week",
    "m": "month",
    "mo": "month",
    "q": "quarter",
    "y": "year",
}
_SAID_DURATION = re.compile(
    r"\b(?:(?:last|past|previous|over|one|an?)\s+)?(?:(?P<number>\d{1,4})[\s-]?)?(?P<unit>day|week|month|quarter|year)s?\b",
    re.IGNORECASE,
)

_FLAG_WORDS = term_set(
    "include including show return returns whether enable flag is has with true "
    "false set "
    "also info "
    "information detail details data extra additional default if add result results full"
)
"""Words that the name or description of any flag may have; they do not tell flags apart."""
_TOGETHER = 4  # words of the text among which the terms of a flag's name must lie
_ADDRESSES = frozenset(("url", "path", "file", "glob", "email", "zone", "sql"))
_EVERY = frozenset(("all", "every", "each", "any", "whole", "everything"))
_TURNED_ROUND = term_set("exclude skip hide omit ignore disable no")


def named_choices(param: Param, reading: ParsedText) -> list[ArgumentMatch]:
    """Return the members of an enum, or the known values of any string, that a request names."""
    found = [_match_alias(value, alias, reading) for alias, value in param.aliases]
    if param.choices:
        found += [_match_name(choice, reading) for choice in param.choices]
        found += [_match_duration(choice, reading) for choice in param.choices]
        found += [_match_operation(choice, reading) for choice in param.choices]
        # Only then: a synonym of another member is weaker than the member's own name.
        if not any(found):
            found = [_match_synonym(choice, reading) for choice in param.choices]
    elif param.kind in ("string", "any"):
        found += [_match_example(example, reading) for example in param.examples]
    unique: dict[str, ArgumentMatch] = {}
    for one in sorted(filter(None, found), key=lambda one: (one.start, -one.score)):
        unique.setdefault(repr(one.argument), one)
    return list(unique.values())


def named_flag(param: Param, reading: ParsedText, known: frozenset[str]) -> ArgumentMatch | None:
    """Return whether a request turns a flag on or off; ``None`` if it does not mention it.

    ``known`` holds the terms of the tool itself, which every request for the tool uses.
    """
    # `include_all` must not be set by the other words of its name.
    if "all" in param.name_words and not any(word.text in _EVERY for word in reading.words):
        return None
    by_name = param.name_terms - _FLAG_WORDS - _TURNED_ROUND
    by_description = param.terms - _FLAG_WORDS - _TURNED_ROUND - known - by_name
    # The name first: a description has many words that are about something else.
    word = _find_mention(by_name, reading) or _find_mention(by_description, reading)
    if word is None:
        return None
    leaves_out = not _TURNED_ROUND.isdisjoint(param.name_terms)
    if leaves_out and not word.negated:
        return None  # "with its images" does not set ``exclude_images``
    return build_match(leaves_out or not word.negated, SURE, word.start, word.end, reading)


def _find_mention(wanted: frozenset[str], reading: ParsedText) -> Word | None:
    """Return the word near which most of ``wanted`` occurs; of several such, the first.

    For ``thought_needed`` that is the second "thought" of "Record thought 3. No more thought is
    needed".
    """
    best, most = None, 0
    addresses = [(value.start, value.end) for value in reading.values if value.kind in _ADDRESSES]
    for place, word in enumerate(reading.words):
        if any(start <= word.start < end for start, end in addresses):
            continue  # ``/index.html`` does not ask for HTML
        if not word.is_stop and not wanted.isdisjoint((word.term, *find_synonyms(word.term))):
            close = {other.term for other in reading.words[place : place + _TOGETHER]} & wanted
            if len(close) > most or best is None:
                best, most = word, len(close)
    return best


def _match_name(choice: Any, reading: ParsedText) -> ArgumentMatch | None:
    if isinstance(choice, bool) or not isinstance(choice, (str, int, float)):
        return None
    wanted = [stem_word(word) for word in split_words(str(choice))]
    # With digits the exact text counts: as words, `1y` and `5y` are the same.
    if not wanted or re.search(r"\d", str(choice)):
        return _match_literal(str(choice), choice, reading)
    for place in range(len(reading.words) - len(wanted) + 1):
        run = reading.words[place : place + len(wanted)]
        if [word.term for word in run] == wanted and not run[0].negated:
            return build_match(choice, SURE, run[0].start, run[-1].end, reading)
    return None


def _match_synonym(choice: Any, reading: ParsedText) -> ArgumentMatch | None:
    wanted = extract_terms(choice) if isinstance(choice, str) else ()
    if len(wanted) != 1:
        return None
    for word in reading.words:
        if wanted[0] in find_synonyms(word.term) and not (word.negated or word.is_stop):
            return build_match(choice, _OTHER_WORD, word.start, word.end, reading)
    return None


def _match_alias(value: Any, alias: tuple[str, ...], reading: ParsedText) -> ArgumentMatch | None:
    held = [next((word for word in reading.words if word.term == term), None) for term in alias]
    present = [word for word in held if word is not None and not word.negated]
    # All of it: half of "year to date" means something else.
    if len(present) < len(alias):
        return None
    start, end = min(word.start for word in present), max(word.end for word in present)
    return build_match(value, SURE, start, end, reading)


def _match_example(example: str, reading: ParsedText) -> ArgumentMatch | None:
    """Match an example itself, or the last part of one such as ``America/New_York``."""
    whole = _match_literal(example, example, reading) or _match_instance(example, reading)
    last = example.rpartition("/")[2].replace("_", " ")
    # `affinity` tells by the words around a city which of two time zones it is for.
    has_last = "/" in example and last[:1].isupper() and find_zone(last) != example
    return whole or (_match_literal(last, example, reading) if has_last else None)


def _match_instance(example: str, reading: ParsedText) -> ArgumentMatch | None:
    """Match "the service checkout" with an example ``services``."""
    stem = stem_word(example.lower()) if example.isalpha() else ""
    word = next((word for word in reading.words if stem and word.term == stem), None)
    if word is None or word.is_stop or word.negated:
        return None
    return build_match(example, SURE, word.start, word.end, reading)


def _match_literal(text: str, argument: Any, reading: ParsedText) -> ArgumentMatch | None:
    match = re.search(rf"(?<!\w){re.escape(text)}(?!\w)", reading.text, re.IGNORECASE)
    return build_match(argument, SURE, match.start(), match.end(), reading) if match else None


def _match_duration(choice: Any, reading: ParsedText) -> ArgumentMatch | None:
    """Match ``6mo`` with "the last 6 months" and ``1y`` with "the past year"."""
    own = _DURATION.fullmatch(choice) if isinstance(choice, str) else None
    if own is None:
        return None
    unit = own["unit"].lower()
    length = count_days(int(own["number"]), _UNITS.get(unit, unit))
    for match in _SAID_DURATION.finditer(reading.text):
        said = count_days(int(match["number"] or 1), match["unit"])
        # Not exactly: 12 months are 360 days here, and a year is 365.
        if said is not None and length is not None and abs(said - length) <= length * 0.04:
            return build_match(choice, SURE, match.start(), match.end(), reading)
    return None


def _match_operation(choice: Any, reading: ParsedText) -> ArgumentMatch | None:
    """Match ``multiply``, or ``*``, with "17 * 23"."""
    sums = [value for value in reading.values if value.kind == "calculation"]
    for value in sums if isinstance(choice, str) else ():
        used = set(list_operators(value.text))
        if len(used) == 1 and (choice in used or NAMES[used.pop()] & term_set(choice)):
            # An empty place: the operands of the formula stay free for other parameters.
            return build_match(choice, SURE, value.start, value.start, reading)
    return None


def build_match(
    argument: Any, score: float, start: int, end: int, reading: ParsedText
) -> ArgumentMatch:
    """Return the match of the words from ``start`` to ``end``."""
    return ArgumentMatch(
        argument=argument, score=score, start=start, end=end, said=reading.text[start:end]
    )


_BULLET = r"(?:[-*•]|\d{1,3}[.)])\s+"
_SENTENCE_END = re.compile(
    rf"(?<![.!?;])[.!?;]++[\"'”’)]*\s+(?:{_BULLET})?|\s*\n\s*(?:{_BULLET})?|^{_BULLET}"
)
_CONNECTOR = re.compile(
    r"(?:,?\s+(?:and|but)|,)\s+(?P<after_and>then|also|afterwards|next|finally|additionally)\s+"
    r"|,?\s+(?P<after>then|afterwards)\s+"
    r"|(?:,?\s+(?P<and>and|as well as|plus)|,)\s+(?P<verb>(?:please\s+)?[^\W\d_]+(?:['’]s)?)"
    r"(?P<object>\s+(?:the|its|their|his|her|all|my|our|an?|me|it|them|each|every|\d+)\b)?",
    re.IGNORECASE,
)
_FIRST_WORD = re.compile(
    r"(?P<after>then|afterwards|after that|next|finally)\b,?\s*", re.IGNORECASE
)
_SEQUENCE = frozenset(("then", "afterwards", "next", "finally"))
_POINTS_BACK = word_set("it its their them they he his him she her this these that those same")
_MOST_REQUESTS = 12  # in one prompt; any further request becomes part of the last
_NOUN_VERBS = word_set(
    "count report list rank record order book stage set display project update post"
)
"""Verbs that are as often nouns: after "and" they open a request only if an object follows ("list
their …")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRequest:
    """One request in a prompt."""

    reading: ParsedText
    """Its words and values."""
    after: bool = False
    """Whether it must wait until the requests before it are done ("…, then …")."""

    @property
    def refers_back(self) -> bool:
        """Whether it refers to something named before: "their orders"."""
        return any(word.text in _POINTS_BACK for word in self.reading.words)


def split_prompt(prompt: str, today: date) -> tuple[PromptRequest, ...]:
    """Return the requests of ``prompt``, in its order; at least one."""
    prompt = prompt[:LONGEST_TEXT]
    whole = parse_text(prompt, today)
    pieces: list[tuple[str, bool]] = []
    start, after = 0, False
    for end, resume, sequence in _find_cuts(whole):
        if prompt[start:end].strip(" ,"):
            pieces.append((prompt[start:end], after))
            after = False
        start, after = resume, after or sequence
        # The rest becomes the last request: each of them is matched with all tools.
        if len(pieces) == _MOST_REQUESTS - 1:
            break
    # At least one, so that an empty prompt gets an answer as well.
    if prompt[start:].strip(" ,.") or not pieces:
        pieces.append((prompt[start:], after))
    return tuple(
        PromptRequest(reading=parse_text(text.strip(" ,\n\t"), today), after=later)
        for text, later in pieces
    )


def join_requests(first: PromptRequest, second: PromptRequest, today: date) -> PromptRequest:
    """Return one request with the text of both."""
    return replace(first, reading=parse_text(f"{first.reading.text}. {second.reading.text}", today))


def split_halves(request: PromptRequest, today: date) -> tuple[ParsedText, ParsedText] | None:
    """Split a request whose only "and" joins two nouns, such as "lifetime value and categories"."""
    text = request.reading.text
    inside = find_covered(request.reading.values)
    found = re.finditer(r",?\s+(?:and|as well as|plus|along with)\s+", text, re.IGNORECASE)
    joints = [match for match in found if match.start() not in inside]
    # With two or more it is an enumeration.
    if len(joints) != 1:
        return None
    return parse_text(text[: joints[0].start()], today), parse_text(text[joints[0].end() :], today)


def _find_cuts(whole: ParsedText) -> list[tuple[int, int, bool]]:
    """Return ``(end of a request, start of the next, whether that one has to wait)``."""
    cuts = []
    for match in _SENTENCE_END.finditer(whole.text):
        opening = _FIRST_WORD.match(whole.text, match.end())
        cuts.append((match.start(), (opening or match).end(), opening is not None))
    for match in _CONNECTOR.finditer(whole.text):
        word = match["after_and"] or match["after"]
        if word is not None:
            cuts.append((match.start(), match.end(), word.lower() in _SEQUENCE))
        elif _is_request_start(match):
            cuts.append((match.start(), match.start("verb"), False))
    # A cut inside a value, such as a sentence in quotes, would destroy the value.
    return sorted(c for c in cuts if not any(_is_inside_value(c, v) for v in whole.values))


def _is_inside_value(cut: tuple[int, int, bool], value: TextValue) -> bool:
    """Whether a cut goes through a value, such as a sentence in quotes.

    The number of a list item does not count as a value.
    """
    overlaps = cut[0] < value.end and value.start < cut[1]
    return overlaps and not (cut[0] <= value.start and value.end <= cut[1])


def _is_request_start(connector: re.Match[str]) -> bool:
    """Whether the text after "and" or a bare comma is a request and not another noun."""
    word = connector["verb"].lower().split()[-1].replace("’", "'")
    # After a bare comma a question word opens a relative clause: "the orders, which were late".
    if is_question_word(word):
        return connector["and"] is not None
    return is_verb(word) and (connector["object"] is not None or word not in _NOUN_VERBS)
