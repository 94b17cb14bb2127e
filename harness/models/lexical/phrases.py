"""Free text: an argument in plain words, without the form of a value.

"Echo hello world", "switch to branch main", "search for wireless headphones". These are the weakest
guesses; they are made last, and mostly for required parameters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from harness.models.lexical.affinity import CONVINCING, PLAUSIBLE
from harness.models.lexical.choices import ArgumentMatch, build_match
from harness.models.lexical.text_parsing import ParsedText, Word, find_covered
from harness.models.lexical.text_values import Kind
from harness.models.tool_text.actions import is_verb
from harness.models.tool_text.parameters import Param
from harness.models.tool_text.terms import find_synonyms, term_set, word_set

_LONG = term_set(
    "message content text comment body input prompt note reason question string description"
)
_QUERY = term_set("query search keyword term phrase question") | {"q"}
_SAYS_NOTHING = term_set("name id text value string query number code message input path")
_FILLERS = word_set(
    "named called titled labelled labeled saying is are as to with of the a an number"
)
_NAMING = word_set("named called titled saying")
_PROSE: frozenset[Kind] = frozenset({"name", "code", "quoted"})
_NAME_OF = re.compile(r"\bname of (?:the |a |an )?(?P<thing>[a-z]+(?: [a-z]+)?)", re.IGNORECASE)
_TOKEN = re.compile(r"[\s:=]*(?P<token>[^\s,;:\"'()]+)")


def find_free_text(
    param: Param,
    reading: ParsedText,
    vocabulary: Mapping[str, int],
    tool_terms: frozenset[str],
    kinds: Sequence[int] = (),
) -> ArgumentMatch | None:
    """Return plain words of a request as an argument for a string parameter.

    ``vocabulary`` holds the terms of all tools' texts; such a word is not taken as a value.
    ``tool_terms`` are those of the tool's name. ``kinds`` are the positions after words such as
    *service* that became the argument for a type: a name follows there.
    """
    # Plain words have no form: what asks for one is filled by values or not at all.
    if param.schema.get("pattern") or param.schema.get("format") or param.choices:
        return None
    found = _after_its_name(param, reading, vocabulary)
    # From the surest guess to the weakest, each only if nothing was found before it.
    if found is None and param.name_words == {"name"}:
        tokens = (_find_token(reading, place, vocabulary, verbs=True) for place in kinds)
        found = next((token for token in tokens if token is not None), None)
    if found is None and param.name_terms & _LONG and param.required:
        found = _after_the_verb(reading, tool_terms)
    if found is None and (param.name_terms | param.name_words) & _QUERY:
        found = _find_leftover(reading, vocabulary)
    return found


def _after_its_name(
    param: Param, reading: ParsedText, vocabulary: Mapping[str, int]
) -> ArgumentMatch | None:
    """Read ``main`` from "branch main" for ``branch_name``, or "the branch called main"."""
    # "name" and its like stand in too many requests to point at a value.
    cues = param.name_terms - _SAYS_NOTHING or _named_thing(param)
    by_call = bool(param.name_terms & term_set("name title"))
    for word in reading.words:
        if word.in_value or not (word.term in cues or (by_call and word.text in _NAMING)):
            continue
        place = word.end
        for follower in reading.words:
            adjacent = follower.start >= place and not reading.text[place : follower.start].strip()
            place = follower.end if adjacent and follower.text in _FILLERS else place
        if param.name_terms & _LONG:
            found = _find_rest(reading, place)
        else:
            after = _find_token(reading, place, vocabulary)
            found = after or _token_before(reading, word, vocabulary)
        if found is not None:
            return found
    return None


def _named_thing(param: Param) -> frozenset[str]:
    """Return the term *deployment* for a ``name`` described as "Name of the deployment"."""
    match = _NAME_OF.search(param.description) if param.name_words == {"name"} else None
    return term_set(match["thing"]) if match else frozenset()


def _find_token(
    reading: ParsedText, place: int, vocabulary: Mapping[str, int], *, verbs: bool = False
) -> ArgumentMatch | None:
    match = _TOKEN.match(reading.text, place)
    token = match["token"].rstrip(".?!") if match else ""
    if match is None or not token:
        return None
    spoken = next((word for word in reading.words if word.start == match.start("token")), None)
    # With digits or signs it is a name, whatever words it consists of.
    if spoken is not None and token.isalpha() and _is_no_name(spoken, vocabulary, verbs=verbs):
        return None
    start = match.start("token")
    return _quote_argument(reading, start, start + len(token), CONVINCING)


def _is_no_name(word: Word, vocabulary: Mapping[str, int], *, verbs: bool) -> bool:
    return word.is_stop or (is_verb(word.text) and not verbs) or word.term in vocabulary


def _token_before(
    reading: ParsedText, cue: Word, vocabulary: Mapping[str, int]
) -> ArgumentMatch | None:
    """Read ``customers`` from "the customers table"."""
    before = next((word for word in reading.words if word.end < cue.start <= word.end + 1), None)
    if before is None or before.is_stop or is_verb(before.text) or before.term in vocabulary:
        return None
    return _quote_argument(reading, before.start, before.end)


def _find_rest(reading: ParsedText, place: int) -> ArgumentMatch | None:
    said = reading.text[place:].strip(" \t\n:=.,\"'“”")
    start = reading.text.find(said, place)
    return _quote_argument(reading, start, start + len(said)) if said else None


def _after_the_verb(reading: ParsedText, tool_terms: frozenset[str]) -> ArgumentMatch | None:
    """Read "hello world" from "echo hello world" for a tool named echo."""
    verbs = (word for word in reading.words if word.term in tool_terms and not word.in_value)
    verb = next(verbs, None)
    return _find_rest(reading, verb.end) if verb is not None else None


def _find_leftover(reading: ParsedText, vocabulary: Mapping[str, int]) -> ArgumentMatch | None:
    """Return the longest run of words that are neither in the tool's text nor stop words."""
    best: list[Word] = []
    run: list[Word] = []
    # An id or a path is an argument of its own, and not a part of what is searched for.
    opaque = find_covered(value for value in reading.values if value.kind not in _PROSE)
    for word in reading.words:
        known = any(term in vocabulary for term in (word.term, *find_synonyms(word.term)))
        own = word.is_stop or is_verb(word.text) or (known and not word.in_value)
        own = own or word.start in opaque
        run = [] if own else [*run, word]
        best = run if len(run) > len(best) else best
    if not best:
        return None
    return _quote_argument(reading, best[0].start, best[-1].end)


def _quote_argument(
    reading: ParsedText, start: int, end: int, score: float = PLAUSIBLE
) -> ArgumentMatch:
    return build_match(reading.text[start:end], score, start, end, reading)
