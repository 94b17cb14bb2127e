"""Splits a prompt into its requests.

"Show customer CUST_00042 and then list their orders" asks for two things; "orders and returns of
2024" is one request by its form.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date

from harness.models.lexical.text_parsing import LONGEST_TEXT, ParsedText, parse_text
from harness.models.lexical.text_values import TextValue
from harness.models.tool_text.actions import is_question_word, is_verb
from harness.models.tool_text.terms import word_set

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
    inside = _find_covered(request.reading)
    joints = [
        match
        for match in re.finditer(r",?\s+(?:and|as well as|plus|along with)\s+", text, re.IGNORECASE)
        if match.start() not in inside
    ]
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
        elif _is_request_start(
            match["verb"], bare=match["and"] is None, followed=match["object"] is not None
        ):
            cuts.append((match.start(), match.start("verb"), False))
    # A cut inside a value, such as a sentence in quotes, would destroy the value.
    return sorted(
        cut for cut in cuts if not any(_is_inside_value(cut, value) for value in whole.values)
    )


def _is_inside_value(cut: tuple[int, int, bool], value: TextValue) -> bool:
    """Whether a cut goes through a value, such as a sentence in quotes.

    The number of a list item does not count as a value.
    """
    overlaps = cut[0] < value.end and value.start < cut[1]
    return overlaps and not (cut[0] <= value.start and value.end <= cut[1])


def _is_request_start(phrase: str, *, bare: bool, followed: bool) -> bool:
    """Whether the text after "and" (or a ``bare`` comma) is a request and not another noun."""
    word = phrase.lower().split()[-1].replace("’", "'")
    # After a bare comma a question word opens a relative clause: "the orders, which were late".
    if is_question_word(word):
        return not bare
    return is_verb(word) and (followed or word not in _NOUN_VERBS)


def _find_covered(reading: ParsedText) -> set[int]:
    return {place for value in reading.values for place in range(value.start, value.end)}
