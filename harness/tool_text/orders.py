"""The changes that a prompt orders: "push the commit", but not "which commits were pushed".

What is quoted, and what is a name (a file, an identifier, an address), is data and orders nothing.
Where a sentence may be read in two ways it orders nothing: the user can say it more plainly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import dropwhile, pairwise
from typing import NamedTuple

from harness.tool_text.actions import PREFIX, is_verb, verb_of, word_may_be_a_noun
from harness.tool_text.terms import first_sentence, word_set, words
from harness.types import Tool

DETERMINERS = word_set(
    "a an the this that these those it its them him her his their your my our all any each every "
    "one both some another us me everything"
)
_LOOKING = word_set(
    "get list find search read fetch retrieve show describe view lookup look query inspect browse "
    "count compare calculate compute estimate predict summarise summarize explain see analyse "
    "analyze check preview display print report tell give return rank project convert translate "
    "review watch follow monitor track verify validate test examine study identify determine "
    "detect diff trace pull open load grab bring pick do try take have want need know learn help "
    "walk guide sum total average group sort filter order value name state detail outline mention "
    "quote is are be use say ask answer guess think imagine suppose note order"
)
"""Verbs by which people ask to see something, whatever a tool of that name does."""
_VIEWS = word_set(
    "list summary overview report table chart graph breakdown comparison look search check query "
    "count total totals guess answer question glance"
)
"""What is made of data without changing it: "create a list of the orders" only looks."""
_NO = word_set("no none nothing neither never not")
_LOGS = word_set(
    "history log logs event events request requests date dates count permission "
    "permissions operation operations status statistics stats access"
)
"""Nouns after which a verb is a noun, too: "delete requests", "update history"."""
_SYNONYMS = (
    word_set("create add"),
    word_set("delete remove erase purge destroy wipe drop"),
    word_set("update change modify edit alter"),
)
_ASIDE = (
    r"(?:(?:ok|okay|hi|hello|hey|thanks|thank you|great|good|yes|sure|now|also|just|then|next|"
    r"finally|first|afterwards|so|lastly|additionally) )*"
)
_POLITE = re.compile(
    rf"{_ASIDE}(?P<polite>(?:please |kindly )+)?"
    r"(?P<asks>(?:can|could|would|will) you |(?:i|we) (?:want|need|would like) (?:you )?to |"
    r"(?:i'd|we'd) like (?:you )?to |let's |let us |go ahead and |make sure to |be sure to |"
    r"you (?:should|must|have to|need to) )?"
    r"(?P<more>(?:please |kindly |just |now |also |then )*)"
)
_MODAL = re.compile(rf"{_ASIDE}(?:please )?(?:can|could|would|will) you ")
_TASKS = word_set(
    "please do the following these this steps step tasks task things thing todo to list actions "
    "action in order can could you i need want perform carry out request for me"
)
"""Words before a colon after which an order may come: "Please do the following:"."""
_PREPOSITIONS = word_set("for in on at from of with to as")
_EMBEDS = word_set(
    "whether if how why when what who whom whose which that where can could may might must should "
    "would will than"
)
"""Words after which a joined verb belongs to what is asked: "tell me whether to push or merge"."""
_REACH = 3  # words after a verb among which a number or a name shows that it is one

LONGEST_TEXT = 8_000
"""Characters of a prompt that are read; no request is longer."""
_QUOTED = re.compile(
    r"```.*?(?:```|\Z)|`[^`]*(?:`|\Z)|\"[^\"]*(?:\"|\Z)|“[^”]*(?:”|\Z)|„[^“”]*(?:[“”]|\Z)"
    r"|«[^»]*(?:»|\Z)|‘[^’]*(?:’(?!\w)|\Z)|(?<!\w)'(?=\S)(?:[^']|(?<=\w)'(?=\w))*(?:'(?!\w)|\Z)"
    r"|^[ \t]*>[^\n]*",
    re.DOTALL | re.MULTILINE,
)
_CHUNK = re.compile(r"[^\s¤]+")
_NAME = re.compile(r"\w[_/\\@#=.:|]+\w|\A[/\\~@#]\w|_|[a-z][A-Z]|\d[^\W\d_]|[^\W\d_]\d")
"""What only names have: of files, addresses, identifiers."""
_LONGEST_WORD = 40  # a longer one is data, too
_TOKEN = re.compile(r"¤+|[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+|[.!?;,:]|\n+")
_ENDS = frozenset(".!?;")


class Order(NamedTuple):
    """A verb that the user orders to be carried out."""

    verb: str
    """The verb, in lower case."""
    start: int
    """Where it stands in the prompt."""
    objects: tuple[str, ...]
    """The next few words; ``¤`` stands for data."""


class ChangingVerbs(NamedTuple):
    """The verbs by which a change is ordered of one tool."""

    sure: frozenset[str]
    """Verbs of its name and description."""
    maybe: frozenset[str]
    """Words of its name that may be a verb; then an object has to follow them."""
    name: frozenset[str]
    """All words of its name."""

    def are_ordered(self, orders: tuple[Order, ...]) -> bool:
        """Whether one of ``orders`` is for one of them."""
        return any(map(self._is_ordered, orders))

    def _is_ordered(self, order: Order) -> bool:
        things = [word for word in order.objects if word not in DETERMINERS]
        if things and things[0] in _VIEWS and things[0] not in self.name:
            return False
        return order.verb in self.sure or (
            order.verb in self.maybe
            and bool(order.objects)
            and (order.objects[0] in DETERMINERS or order.objects[0] in self.name)
        )


@lru_cache(maxsize=4_096)
def _verbs(name: str, description: str) -> ChangingVerbs:
    parts = words(name)
    opening = words(PREFIX.sub("", first_sentence(description)))[:1]
    first = {verb_of(word) or word for word in opening}
    named = {word for word in parts if verb_of(word) == word and not word_may_be_a_noun(word)}
    sure = (
        {verb for verb in first if verb in parts or verb_of(verb) is not None}
        | named
        | {word for word in parts[:1] if verb_of(word) == word}
    )
    maybe = set(parts[:1]) if not is_verb(parts[0] if parts else "") else set()
    if maybe and len(parts) > 1:
        maybe.add(parts[-1])
    alike = {verb for group in _SYNONYMS if group & sure for verb in group}
    return ChangingVerbs(
        frozenset((sure | alike) - _LOOKING), frozenset(maybe - _LOOKING), frozenset(parts)
    )


def changing_verbs(tool: Tool) -> ChangingVerbs:
    """Return the verbs by which somebody orders what ``tool`` changes, never those of looking."""
    return _verbs(tool.name, tool.description)


@lru_cache(maxsize=512)
def orders_in(prompt: str) -> tuple[Order, ...]:
    """Return what ``prompt`` orders, in its order."""
    masked = _CHUNK.sub(_without_name, _QUOTED.sub(_as_data, prompt[:LONGEST_TEXT]))
    found = _TOKEN.finditer(masked)
    return tuple(_orders([(one[0].lower().replace("’", "'"), one.start()) for one in found]))


def _as_data(found: re.Match[str]) -> str:
    return "¤" * len(found[0])


def _without_name(found: re.Match[str]) -> str:
    word = found[0].rstrip(".,;:!?)]}")
    if len(word) <= _LONGEST_WORD and not _NAME.search(word):
        return found[0]
    return "¤" * len(word) + found[0][len(word) :]


def _orders(tokens: list[tuple[str, int]]) -> Iterator[Order]:
    for sentence, end in _sentences(tokens):
        spoken = " ".join(word for word, _ in sentence) + " "
        if end == "?" and not _MODAL.match(spoken):
            continue
        for place, clause in enumerate(_clauses(sentence)):
            order, goes_on = _order(clause, is_first=place == 0)
            if order is not None:
                yield order
            if not goes_on or _embeds(clause):
                break  # "Users read and delete files": what follows is no order either


def _sentences(tokens: list[tuple[str, int]]) -> Iterator[tuple[list[tuple[str, int]], str]]:
    """Yield the sentences with their last mark; what follows a colon is data unless tasks do."""
    sentence: list[tuple[str, int]] = []
    skips = ""  # until where text is data: the end of the paragraph, or of the text
    for place, token in enumerate(tokens):
        word = token[0]
        if skips:
            if word.startswith("\n\n") and skips == "paragraph":
                skips, sentence = "", []
            continue
        if word == ":":
            if not all(one in _TASKS or one.isdigit() for one, _ in sentence):
                yield sentence, word
                follows = tokens[place + 1][0] if place + 1 < len(tokens) else ""
                skips = "text" if follows.startswith("\n") else "paragraph"
            sentence = []
        elif word in _ENDS or word.startswith("\n"):
            yield sentence, word
            sentence = []
        else:
            sentence.append(token)
    if sentence:
        yield sentence, ""


def _clauses(sentence: list[tuple[str, int]]) -> Iterator[list[tuple[str, int]]]:
    clause: list[tuple[str, int]] = []
    for token in sentence:
        ahead = [word for word, _ in clause[-2:]] == ["go", "ahead"]
        if token[0] in {",", "and", "or", "but", "then"} and not ahead:
            if clause:
                yield clause
            clause = []
        else:
            clause.append(token)
    if clause:
        yield clause


def _embeds(clause: list[tuple[str, int]]) -> bool:
    """Whether the clause has another inside it, which the next ones may continue."""
    said = [word for word, _ in clause]
    opening = _POLITE.match(" ".join(said) + " ")
    rest = said[opening[0].count(" ") if opening else 0 :]
    return not _EMBEDS.isdisjoint(rest) or any(
        word == "to" and is_verb(after) for word, after in pairwise(rest)
    )


def _order(clause: list[tuple[str, int]], *, is_first: bool) -> tuple[Order | None, bool]:
    """Return what a clause orders, and whether the clauses after it may order something.

    A clause that is not the first needs a plain object: "the update and delete statements".
    """
    spoken = " ".join(word for word, _ in clause) + " "
    opening = _POLITE.match(spoken)
    skipped = opening[0].count(" ") if opening else 0
    rest = list(dropwhile(lambda one: one[0].isdigit(), clause[skipped:]))  # "2) push it"
    if not rest:
        return None, True
    verb, start = rest[0]
    if not verb[0].isalpha():
        return None, False
    if verb in _PREPOSITIONS and skipped == 0:
        return None, rest[1:2] == [] or rest[1][0] not in {"case", "which", "what", "whom"}
    after = tuple(word if word[0] != "¤" else "¤" for word, _ in rest[1 : 1 + _REACH])
    polite = bool(opening and (opening["polite"] or opening["asks"] or opening["more"].strip()))
    has_object = bool(after) and after[0] in DETERMINERS
    imperative = is_verb(verb) or verb in _LOOKING or polite or has_object
    if not imperative and after and not _shows_value(after):
        return None, False
    if verb in DETERMINERS or (after[:1] and (after[0] in _NO or after[0] == "up")):
        return None, imperative
    is_verb_alone = verb_of(verb) == verb and not word_may_be_a_noun(verb)
    plain = (
        polite
        or has_object
        or _shows_value(after)
        or (bool(after) and after[0].endswith("'s"))
        or (is_first and (not after or (is_verb_alone and _LOGS.isdisjoint(after[:2]))))
    )
    return (Order(verb, start, after) if plain else None), True


def _shows_value(after: tuple[str, ...]) -> bool:
    for word in after:
        if word in _PREPOSITIONS:
            return False
        if word == "¤" or word.isdigit():
            return True
    return False
