"""The changes that a prompt orders: "push the commit", but not "which commits were pushed".

What is quoted, and what is a name (a file, an identifier, an address), is data and orders nothing.
Where a sentence may be read in two ways it orders nothing: the user can say it more plainly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import dropwhile, pairwise, takewhile
from typing import NamedTuple

from harness.models.tool_text.actions import (
    PREFIX,
    find_verb,
    is_changing_verb,
    is_verb,
    word_may_be_a_noun,
)
from harness.models.tool_text.terms import (
    extract_terms,
    find_synonyms,
    first_sentence,
    split_words,
    stem_word,
    word_set,
)
from harness.types import Tool


class Instruction(NamedTuple):
    """A verb that the user orders to be carried out."""

    verb: str
    """The verb, in lower case."""
    start: int
    """Where it stands in the prompt."""
    objects: tuple[str, ...]
    """The next few words; ``¤`` stands for data."""


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
    "count total totals guess answer question glance diagram picture outline timeline"
)
"""What is made of data without changing it: "create a list of the orders" only looks."""
_NO = word_set("no none nothing neither never not")
ONLY_CHANGE = word_set(
    "push delete cancel refund deploy archive unarchive transfer pay restart reboot ban unban kick "
    "invite approve reject revoke install uninstall terminate destroy wipe purge erase commit "
    "publish unpublish subscribe unsubscribe enable disable lock unlock rename reset undo restore "
    "close reopen schedule reschedule book buy purchase register submit upload kill evict "
    "overwrite activate deactivate assign stop pause resume click"
)
"""Verbs that only ever order a change. Any other one may ask for an answer in some form ("put the
figures into a table"), so its object has to be what the tool is for."""
_AFTER_IT = word_set("again now please immediately")
_SHOWN = word_set("of with showing listing comparing for that which about from")
"""Words after a view that say what it shows: "a table of the orders"."""
_STATES = word_set("is are was were appears means")
_RELATIVE = word_set("that which who whose what whatever whichever because since")
_LOGS = word_set(
    "history log logs event events request requests date dates count permission "
    "permissions operation operations status statistics stats access"
)
"""Nouns after which a verb is a noun, too: "delete requests", "update history"."""
_SYNONYMS = (
    word_set("create add"),
    word_set("delete remove erase purge destroy wipe drop"),
    word_set("update change modify edit alter"),
    word_set("send post"),
    word_set("book reserve"),
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
_LEFT_TO_OTHERS = re.compile(
    r"\b(?:myself|ourselves|himself|herself|themselves|in principle|in theory|hypothetically)\b"
    r"|\b(?:could|would) you\b.* if\b|\bwould you (?!(?:please|kindly)\b)"
)
"""What makes a sentence a plan of somebody else, or a question about what is possible."""
_TASKS = word_set(
    "please do the following these this steps step tasks task things thing to list actions "
    "action in order can could you i need want perform carry out request for me"
)
"""Words before a colon after which an order may come: "Please do the following:"."""
_TEXT_TASKS = word_set("translate rephrase paraphrase proofread rewrite reword polish")
_TEXTS_OF = word_set("summarise summarize explain classify correct shorten answer")
_THIS = word_set("this following below")
_PREPOSITIONS = word_set("for in on at from of with to as into about by")
_EMBEDS = word_set(
    "whether if how why when what who whom whose which that where can could may might must should "
    "would will than"
)
"""Words after which a joined verb belongs to what is asked: "tell me whether to push or merge"."""
_AFTER_OBJECT = _PREPOSITIONS | _EMBEDS | _SHOWN
_ALL = word_set("anything everything all nothing any")  # "do anything but delete it"
_PLACES = word_set("to from into in on at")
_REACH = 3  # words after a verb among which a number or a name shows that it is one
_OBJECTS = 6  # words after a verb among which its object stands

LONGEST_TEXT = 8_000
"""Characters of a prompt that are read; no request is longer."""
_QUOTED = re.compile(
    r"```.*?(?:```|\Z)|`[^`]*(?:`|\Z)|\"[^\"]*(?:\"|\Z)|“[^”]*(?:”|\Z)|„[^“”]*(?:[“”]|\Z)"
    r"|\([^()\n]*\)|«[^»]*(?:»|\Z)|‘[^’]*(?:’(?!\w)|\Z)|(?<!\w)'(?=\S)(?:[^']|(?<=\w)'(?=\w))*(?:'(?!\w)|\Z)"
    r"|^[ \t]*>[^\n]*",
    re.DOTALL | re.MULTILINE,
)
_LETTER = re.compile(
    r"^(?:(?:from|to|subject|sent|date):"
    r"|(?:hi|hello|hey|dear) (?!there\b)\w+(?: \w+)?[,!:]?[ \t]*\n\s*\S"
    r"|(?<=\n)(?:hi|hello|hey|dear)\b[^\n.?]{0,40}\n).*",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
"""A letter to somebody, by its header or salutation, and all that follows."""
_CHUNK = re.compile(r"[^\s¤]+")
_NAME = re.compile(r"\w[_/\\@#=.:|]+\w|\A[/\\~@#]\w|_|[a-z][A-Z]|\w-\d|\d[^\W\d_]|[^\W\d_]\d")
"""What only names have: of files, addresses, identifiers."""
_LONGEST_WORD = 40  # a longer one is data, too
_TOKEN = re.compile(r"¤+|[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+|[.!?;,:]|\n+")
_ENDS = frozenset(".!?;")


class ChangingVerbs(NamedTuple):
    """The verbs by which a change is ordered of one tool."""

    sure: frozenset[str]
    """Verbs of its name and description."""
    maybe: frozenset[str]
    """Words of its name that may be a verb; then an object has to follow them."""
    name: frozenset[str]
    """All words of its name."""
    things: frozenset[str]
    """What it is for: the stems of its name and description, and their synonyms."""

    def are_ordered(self, orders: tuple[Instruction, ...]) -> bool:
        """Whether one of ``orders`` is for one of them."""
        return any(map(self._is_ordered, orders))

    def _is_ordered(self, order: Instruction) -> bool:
        thing, after = _split_object(order)
        is_view = thing[-1:] and thing[-1] in _VIEWS and order.verb not in ONLY_CHANGE
        if is_view and (thing[-1] not in self.name or not _SHOWN.isdisjoint(after[:1])):
            return False
        is_definite = not order.objects or order.objects[0] in DETERMINERS
        if order.verb in self.sure:
            is_plain = is_definite or _shows_value(order.objects[:2])
            return (order.verb in ONLY_CHANGE and is_plain) or self._is_about(order)
        if order.verb not in self.maybe or not order.objects:
            return False
        is_meant = is_definite and (order.verb in ONLY_CHANGE or self._is_about(order))
        return order.objects[0] in self.name or is_meant

    def _is_about(self, order: Instruction) -> bool:
        """Whether what the verb is said of is what the tool is for."""
        if not order.objects:
            return True
        first, *others = order.objects
        if is_changing_verb(order.verb) and (first == "¤" or first.isdigit()):
            return True
        if first in {"it", "them"}:
            goes_to = others[:1] == ["to"] and is_changing_verb(order.verb)
            return goes_to or not others or others[0] in _AFTER_IT
        said, _ = _split_object(order)
        if first == "me":  # "send me an email", but "send me the emails"
            said = said if others[:1] and others[0] in {"a", "an"} else []
        elif first not in DETERMINERS and DETERMINERS.isdisjoint(others[:1]):
            said = said[:1]  # a noun before it makes the verb one, too: "restart count of the pod"
            is_placed = others[:1] and others[0] in _PLACES and first[-1] != "s"
            if is_placed and is_changing_verb(order.verb):
                said = others  # "add Ann to the channel", but "drop weekends from the table"
        return not self.things.isdisjoint(extract_terms(" ".join(said)))


def _split_object(order: Instruction) -> tuple[list[str], list[str]]:
    """Return the words of an order's object without articles, and those after it."""
    whole = list(takewhile(lambda word: word not in _AFTER_OBJECT, order.objects))
    said = [word for word in whole if word not in DETERMINERS]
    return said, list(order.objects[len(whole) :])


@lru_cache(maxsize=4_096)
def _find_verbs(name: str, description: str) -> ChangingVerbs:
    parts = split_words(name)
    opening = split_words(PREFIX.sub("", first_sentence(description)))[:1]
    first = {find_verb(word) or word for word in opening}
    named = {word for word in parts if find_verb(word) == word and not word_may_be_a_noun(word)}
    sure = {verb for verb in first if verb in parts or find_verb(verb) is not None} | named
    sure |= {word for word in parts[:1] if find_verb(word) == word}
    maybe = set(parts[:1]) if not is_verb(parts[0] if parts else "") else set()
    if maybe and len(parts) > 1:
        maybe.add(parts[-1])
    alike = {verb for group in _SYNONYMS if group & sure for verb in group}
    said = {*extract_terms(name), *extract_terms(first_sentence(description))}
    said -= {stem_word(verb) for verb in (sure | alike) if not word_may_be_a_noun(verb)}
    return ChangingVerbs(
        frozenset((sure | alike) - _LOOKING),
        frozenset(maybe - _LOOKING),
        frozenset(parts),
        frozenset((*said, *(other for term in said for other in find_synonyms(term)))),
    )


def changing_verbs(tool: Tool) -> ChangingVerbs:
    """Return the verbs by which somebody orders what ``tool`` changes, never those of looking."""
    return _find_verbs(tool.name, tool.description)


@lru_cache(maxsize=512)
def find_instructions(prompt: str) -> tuple[Instruction, ...]:
    """Return what ``prompt`` orders, in its order."""
    unquoted = _LETTER.sub(_replace_data, _QUOTED.sub(_replace_data, prompt[:LONGEST_TEXT]))
    masked = _CHUNK.sub(_without_name, unquoted)
    found = _TOKEN.finditer(masked)
    tokens = [(one[0].lower().replace("’", "'"), one.start()) for one in found]
    return tuple(_iterate_instructions(tokens))


def _replace_data(found: re.Match[str]) -> str:
    return "¤" * len(found[0])


def _without_name(found: re.Match[str]) -> str:
    word = found[0].rstrip(".,;:!?)]}")
    if len(word) <= _LONGEST_WORD and not _NAME.search(word):
        return found[0]
    return "¤" * len(word) + found[0][len(word) :]


def _iterate_instructions(tokens: list[tuple[str, int]]) -> Iterator[Instruction]:
    for sentence, end in _iterate_sentences(tokens):
        spoken = " ".join(word for word, _ in sentence) + " "
        if (end == "?" and not _MODAL.match(spoken)) or _LEFT_TO_OTHERS.search(spoken):
            continue
        for place, clause in enumerate(_iterate_clauses(sentence)):
            order, goes_on = _read_clause(clause, is_first=place == 0, is_asked=end == "?")
            if order is not None and (order.objects or end != ":"):  # "Archive: what is in it"
                yield order
            if not goes_on or _has_inner_clause(clause):
                break  # "Users read and delete files": what follows is no order either


def _iterate_sentences(
    tokens: list[tuple[str, int]],
) -> Iterator[tuple[list[tuple[str, int]], str]]:
    """Yield the sentences with their last mark; what follows a colon is data unless tasks do."""
    sentence: list[tuple[str, int]] = []
    skips = ""  # until where text is data: the end of the paragraph, or of the text
    last: list[str] = []  # the words of the sentence before, and its mark
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
            if sentence:
                last = [*(one for one, _ in sentence), word]
            yield sentence, word
            sentence = []
            if word.startswith("\n") and _is_about_a_text(last):
                skips = "text"
        else:
            sentence.append(token)
    if sentence:
        yield sentence, ""


def _iterate_clauses(sentence: list[tuple[str, int]]) -> Iterator[list[tuple[str, int]]]:
    clause: list[tuple[str, int]] = []
    for token in sentence:
        said = [word for word, _ in clause]
        is_but = token[0] == "but" and not _ALL.isdisjoint(said[-1:])
        goes_on = is_but or said[-2:] == ["go", "ahead"]
        if token[0] in {",", "and", "or", "but", "then"} and not goes_on:
            if clause:
                yield clause
            clause = []
        else:
            clause.append(token)
    if clause:
        yield clause


def _has_inner_clause(clause: list[tuple[str, int]]) -> bool:
    """Whether the clause has another inside it, which the next ones may continue."""
    said = [word for word, _ in clause]
    opening = _POLITE.match(" ".join(said) + " ")
    rest = said[opening[0].count(" ") if opening else 0 :]
    has_infinitive = any(word == "to" and is_verb(after) for word, after in pairwise(rest))
    return has_infinitive or not _EMBEDS.isdisjoint(rest)


def _read_clause(
    clause: list[tuple[str, int]], *, is_first: bool, is_asked: bool
) -> tuple[Instruction | None, bool]:
    """Return what a clause orders, and whether the clauses after it may order something.

    A clause that is not the first needs a plain object: "the update and delete statements". So does
    a question: "Can you delete branches?" asks what is possible.
    """
    spoken = " ".join(word for word, _ in clause) + " "
    opening = _POLITE.match(spoken)
    skipped = opening[0].count(" ") if opening else 0
    rest = list(dropwhile(lambda one: one[0].isdigit(), clause[skipped:]))  # "2) push it"
    if not rest:
        return None, True
    verb, start = rest[0]
    said = [word for word, _ in rest[1:]]
    if not verb[0].isalpha() or _is_statement(said):
        return None, False
    if verb in _PREPOSITIONS and skipped == 0:
        return None, rest[1:2] == [] or rest[1][0] not in {"case", "which", "what", "whom"}
    after = tuple(word if word[0] != "¤" else "¤" for word in said[:_OBJECTS])
    polite = bool(opening and (opening["polite"] or opening["asks"] or opening["more"].strip()))
    has_object = bool(after) and after[0] in DETERMINERS
    imperative = is_verb(verb) or verb in _LOOKING or polite or has_object
    if not imperative and after and not _shows_value(after):
        return None, False
    if verb in DETERMINERS or (after[:1] and (after[0] in _NO or after[0] == "up")):
        return None, imperative
    is_verb_alone = find_verb(verb) == verb and not word_may_be_a_noun(verb)
    has_object = has_object or _shows_value(after) or (bool(after) and after[0].endswith("'s"))
    opens = is_first and (not after or (is_verb_alone and _LOGS.isdisjoint(after[:2])))
    asks = (polite and _LOGS.isdisjoint(after[:1])) or opens
    plain = has_object or (asks and not is_asked)
    return (Instruction(verb, start, after) if plain else None), True


def _shows_value(after: tuple[str, ...]) -> bool:
    near = takewhile(lambda word: word not in _PREPOSITIONS, after[:_REACH])
    return any(word == "¤" or word.isdigit() for word in near)


def _is_statement(after: list[str]) -> bool:
    """Whether a verb follows the object: "Delete the branch is what the log says"."""
    place = next((place for place, word in enumerate(after) if word in _STATES), None)
    return place is not None and _RELATIVE.isdisjoint(after[:place])


def _is_about_a_text(said: list[str]) -> bool:
    """Whether the lines after a sentence are its text: "Translate to German", "Is this polite?"."""
    opening = _POLITE.match(" ".join(said))
    verb = (*said[opening[0].count(" ") if opening else 0 :], "")[0]
    if verb in _TEXT_TASKS or (verb in _TEXTS_OF and not _THIS.isdisjoint(said)):
        return True
    if said[-1:] == ["?"]:
        return not _THIS.isdisjoint(said)
    return verb in _EMBEDS and said[-1:] != ["."]  # "Should we", and a list of what we could do
