"""The only place that decides whether a tool may be called that nobody asked for.

Harness chooses calls itself in many places: the baseline answers a prompt, a probe repeats and
forges calls, a draft makes arguments up. None of them may change anything of its own accord.
So a tool has to be *known to read*; a tool of which nothing is known may change something.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Self

from harness.base import compile_late
from harness.models.tool_text.actions import (
    CODE,
    PREFIX,
    UNMISTAKABLE,
    find_action,
    find_verb,
    is_changing_verb,
    word_may_be_a_noun,
)
from harness.models.tool_text.instructions import (
    DETERMINERS,
    ONLY_CHANGE,
    Instruction,
    changing_verbs,
)
from harness.models.tool_text.parameters import read_params
from harness.models.tool_text.terms import first_sentence, split_words, word_set
from harness.types import Tool, ToolList, dataclass

EFFECTS = (
    UNMISTAKABLE
    | ONLY_CHANGE
    | word_set(
        "mark notify invalidate generate charge bill consume prune acknowledge expire dequeue "
        "toggle trigger reply reserve claim rotate refresh fix hold"
    )
) - word_set("close write make reject")  # "closest"; "this writes …" is said of examples
"""Verbs of a change, whatever they are joined to."""


def _build_pattern(verbs: Iterable[str], ending: str) -> str:
    """Return a pattern for the verbs with an ending: *s*, *ed* or *ing*."""
    found = []
    for verb in sorted(verbs):
        stem = verb.removesuffix("e") if ending != "s" else verb
        if verb.endswith("y") and ending != "ing":
            stem = f"{verb[:-1]}ie" if ending == "s" else f"{verb[:-1]}i"
        # "dropped" and "cancelled" double the last letter of their verb.
        double = f"{verb[-1]}?" if ending != "s" and verb[-1] in "lnpt" else ""
        found.append(f"{stem}{double}{'e?s' if ending == 's' else ending}")
    return f"(?:{'|'.join(found)})"


_SOON = r"(?:(?:also|then|automatically|immediately|implicitly|optionally)\s+)?"
# An article or its like has to follow: "updates" before it is a verb, else often a noun.
_THINGS = r"(?:a|an|the|it|its|them|their|one|any|all|each|every|this|that|those|if|when|to|you)"
_DOES = (
    r"(?:(?:\A|[.!?;(,:]|\s[-–—]|\b(?:and|also|then|it|this|tool|automatically))\s*)"
    rf"{_SOON}{_build_pattern(EFFECTS, 's')}\s+{_THINGS}\b|\balso {_build_pattern(EFFECTS, 's')}\b"
)
_DOING = (
    rf"(?:,|\boptionally|\bby)\s*{_SOON}"
    rf"{_build_pattern(EFFECTS | {'make', 'set'}, 'ing')}\s+{_THINGS}\b"
)
_IS_DONE = (
    rf"\b(?:is|are|will be|(?<=s )get)\s+{_SOON}"
    rf"(?:{_build_pattern(EFFECTS - {'update'}, 'ed')}|sent|reset|lost)\b"
)
_BECOMES = r"\bbecomes? (?:public|visible|permanent)\b"
_EFFECT = compile_late(f"{_DOES}|{_DOING}|{_IS_DONE}|{_BECOMES}", re.IGNORECASE)
_CONDITION = compile_late(
    r"\b(?:that|which|who|whose|if|when|where|whether|once|after|before|how|why|what|until|unless|"
    r"because|since|not|no|never|without|can|could|may|must|should|use|example|e\.g)\b",
    re.IGNORECASE,
)
"""Words before which nothing is said of what the tool itself does."""
_LONGEST = 20_000  # characters of a description
_REACH = 300  # characters before a verb among which its clause begins
_CLAUSE = compile_late(r"[.!?;,(:]|\n\s*(?:\n|[-*])")


def has_side_effect(description: str) -> bool:
    """Whether the description says that the tool changes something, in whichever sentence."""
    if len(description) > _LONGEST:
        return True  # nobody reads on, so nobody knows
    for match in _EFFECT.finditer(description):
        clause = _CLAUSE.split(description[max(0, match.start() - _REACH) : match.start()])[-1]
        # "Call it before the order is cancelled" speaks of somebody else's deed.
        if not _CONDITION.search(clause):
            return True
    return False


_READING = word_set(
    "get list find search read fetch retrieve show describe view lookup look inspect browse "
    "count compare calculate compute estimate predict summarise summarize explain see analyse "
    "analyze check preview"
)
"""Verbs of names and descriptions that do nothing but read. A verb that is missing here does not
read: the list errs on the safe side. *Query* is missing because a query may be SQL."""
_OPENINGS = _READING | word_set("return give tell provide display")
"""The same for the first word of a description: "Returns the order"."""
_ALONE = _OPENINGS - {"fetch"}
"""Those that need no verb of the name beside them: *git_fetch* changes the repository."""
_PARTICLES = word_set("in out off up on")  # "check in" and "look up" are other verbs than "check"
_LINKS = word_set("and or then also")
_AND = compile_late(r"[^\W\d_]+|[,/&]")
_SUBJECT = compile_late(
    r"(?:[A-Z]{3,}[^:.\n]{0,40}: )?(?i:[a-z]+ly )?"
    r"(?i:(?:use )?(?:this|the) (?:tool|function|api|command|endpoint)(?: to| will)? )?"
)
"""What may stand before the verb of a description: "START HERE: This tool lists …"."""
_FIRST_WORDS = 4  # of a parameter's description that name what it takes: "SQL query to execute"
_NOUNS_TOO = word_set("list view search check count preview lookup look compare estimate display")
"""Reading verbs that are as often nouns in names: *list_push*, *view_drop*, *check_rerun*."""
_IDIOMS = word_set("ready rid paid started going set")  # "get rid of the user" reads nothing
_NOUN_PHRASES = DETERMINERS | word_set(
    "current latest detailed details full complete information info overview summary status"
)
"""First words of a description that names what is returned: "Current weather of a city"."""
_SHOWS = word_set("show display tell give provide return")
_TO_OTHERS = compile_late(
    r" (?:to|on) (?:a|an|the|all|every|each|your|their)? ?"
    r"(?:users?|screens?|speakers?|team|everyone|robot|customers?|phone|tv|device|kiosk|display)\b"
)
"""What is shown "to all users" is sent to them."""
_OFFERS = compile_late(r"lists? an? (?!\w+['’]s)\w+ (?:on|at|in the|for sale)\b|.*\bfor sale\b")
_CHOICES = word_set("action operation method op mode")
"""Parameters that may choose what a tool does: it reads only if all that may be chosen does."""
_ADDRESSES = word_set("url uri endpoint")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leave:
    """What a caller may do beyond reading, and who said so."""

    everything: bool = False
    """Whether every tool may be called (``allow_writes: true``)."""
    tools: frozenset[str] = frozenset()
    """Tools that the suite allows, or that the case expects to be called."""
    reading: frozenset[str] | None = None
    """The tools that are known to read, where others words are shown than the server's own; no
    other words may make a tool look harmless."""

    def is_allowed(self, tool: str) -> bool:
        """Whether the tool of that name may be called, whatever it does."""
        return self.everything or tool in self.tools

    def knows_reading(self, tool: Tool, *, by_its_words: bool | None = None) -> bool:
        """Whether ``tool`` is known to read; ``by_its_words`` saves asking its words again."""
        if self.reading is not None:
            return tool.name in self.reading
        return is_read_only(tool) if by_its_words is None else by_its_words

    def with_names_of(self, tools: ToolList) -> Self:
        """Return the same leave with the names under which ``tools`` offers them."""
        offered = {tool.name for tool in tools.tools}
        named = (o for o in offered if any(tools.is_meant(name, o) for name in self.tools))
        return replace(self, tools=frozenset(named))


NO_LEAVE = Leave()
"""To read, and nothing else."""


def may_call(
    tool: Tool,
    leave: Leave = NO_LEAVE,
    orders: tuple[Instruction, ...] = (),
    *,
    invented: bool = False,
    known_to_read: bool | None = None,
) -> bool:
    """Whether harness may call ``tool`` of its own accord.

    It may if the tool reads, if ``leave`` covers it, or if one of the user's ``orders`` is for what
    it does. With ``invented`` arguments, the words of a tool are not enough, only its mark is:
    nobody has said what such a call would do. ``known_to_read``: what `is_read_only` says, if a
    caller keeps it.
    """
    # Leave is by name, and covers whatever the tool does.
    if leave.is_allowed(tool.name) or (invented and is_marked_reading(tool)):
        return True
    if not invented and leave.knows_reading(tool, by_its_words=known_to_read):
        return True
    # Last, since it reads all words of the tool.
    return bool(orders) and changing_verbs(tool).are_ordered(orders)


def is_marked(tool: Tool) -> bool:
    """Whether the server's annotations tell if ``tool`` changes something."""
    return tool.read_only is not None or tool.destructive is not None


def is_marked_reading(tool: Tool) -> bool:
    """Whether the server's annotations say that ``tool`` reads, and nothing to the contrary."""
    return tool.read_only is True and tool.destructive is not True


def is_read_only(tool: Tool) -> bool:
    """Whether ``tool`` is known to read: by its annotations, or else by its verbs."""
    # The author's marks decide, also against the words of the tool.
    if tool.read_only is not None or tool.destructive:
        return is_marked_reading(tool)
    return not takes_code(tool) and _says_that_it_reads(tool)


def can_change(tool: Tool) -> bool:
    """Whether there is a sign that ``tool`` changes something: a mark, a verb, code to execute."""
    signs = is_marked(tool) or find_action(tool) not in (None, "read") or takes_code(tool)
    return not is_read_only(tool) and signs


def takes_code(tool: Tool) -> bool:
    """Whether its arguments are executed, such as SQL: then its own words say nothing."""
    told = [
        word
        for param in read_params(tool)
        for word in (*split_words(param.name), *split_words(param.description)[:_FIRST_WORDS])
    ]
    return not CODE.isdisjoint((*split_words(tool.name), *told))


def _chooses_a_change(tool: Tool) -> bool:
    """Whether a parameter chooses what the tool does, and not all of it is known to read."""
    params = read_params(tool)
    for param in params:
        if param.name.lower() not in _CHOICES:
            continue
        verbs = [(*split_words(str(choice)), "")[0] for choice in param.choices]
        # Choices without verbs, such as "json" and "csv", choose a form and no deed.
        if any(find_verb(verb) or verb in EFFECTS for verb in verbs):
            return not all(_strip_ending(verb) in _OPENINGS for verb in verbs)
        # Without an enum, `method` beside a URL may be POST or DELETE.
        if not verbs and any(_ADDRESSES.intersection(split_words(other.name)) for other in params):
            return True  # any HTTP method
    return False


def _says_that_it_reads(tool: Tool) -> bool:
    sentence = _SUBJECT.sub("", PREFIX.sub("", first_sentence(tool.description)))
    name, said = split_words(tool.name), split_words(sentence)
    # Any sign of a change is enough, while reading has to be said plainly.
    if find_action(tool) in ("create", "update", "delete") or _chooses_a_change(tool):
        return False
    # "get_and_lock" reads, and does something else.
    if any(_other_verbs(" ".join(name), name)) or any(_other_verbs(sentence, said)):
        return False
    by_name = _is_opened_by(name, _READING)
    # Name and description have to agree; a name alone has to say more.
    if said:
        verb = (name or [""])[0]
        by_words = verb not in EFFECTS and verb != _strip_ending(said[0])
        agrees = by_name and (_is_opened_by(said, _OPENINGS) or said[0] in _NOUN_PHRASES)
        known = agrees or (by_words and _is_opened_by(said, _ALONE))
    else:
        known = by_name and _is_about_things(name)
    return known and not _is_for_others(sentence, said) and not has_side_effect(tool.description)


def _is_about_things(name: list[str]) -> bool:
    """Whether a name without description reads things: *list_orders*, but not *list_append*."""
    verb, *rest = name
    # The last word is what the name is about: in *list_append* it is a verb.
    verbs = (*rest[-1:], *(word for word in rest if not word_may_be_a_noun(word)))
    if any(is_changing_verb(word) or word in EFFECTS | _IDIOMS for word in verbs):
        return False  # but "list open orders" is one
    return verb not in _NOUNS_TOO or not rest or rest[-1].endswith("s")


def _is_for_others(sentence: str, said: list[str]) -> bool:
    """Whether something is given to others than the caller: "Show a popup to all users"."""
    lower = sentence.lower()
    shows = bool(said) and _strip_ending(said[0]) in _SHOWS and _TO_OTHERS.search(lower) is not None
    return shows or _OFFERS.match(lower) is not None


def _is_opened_by(said: list[str], verbs: frozenset[str]) -> bool:
    """Whether the first word is one of ``verbs`` (*get*, *gets*), and no particle changes it."""
    # "up-to-date" is no particle.
    changed = said[1:3] != ["up", "to"] and not _PARTICLES.isdisjoint(said[1:2])
    return bool(said) and _strip_ending(said[0]) in verbs and not changed


def _strip_ending(word: str) -> str:
    return find_verb(word) or word


def _other_verbs(text: str, said: list[str]) -> Iterator[str]:
    """Yield the verbs that a sentence joins to its first one, unless they only read as well.

    Right after the first verb, each word is one ("find and lock", "List, create, or close");
    later only a known verb, or a word before an article ("and marks the message").
    """
    parts = _AND.findall(text.lower().replace("_", " ").replace("-", " "))
    joined = False  # whether only verbs and links have been seen so far
    for place, part in enumerate(parts):
        if place == 0:
            joined = bool(said) and _strip_ending(part) in _OPENINGS
            continue
        if part in _LINKS or part in ",/&":
            continue
        linked = parts[place - 1] in _LINKS or parts[place - 1] in ",/&"
        if not linked:
            joined = False
            continue
        verb, after = _strip_ending(part), parts[place + 1] if place + 1 < len(parts) else ""
        known = find_verb(part) is not None and not word_may_be_a_noun(verb)
        known = known or (part in EFFECTS and parts[place - 1] in {"and", "then", "/"})
        if (
            verb not in _OPENINGS
            and part not in DETERMINERS
            and (joined or known or (after in DETERMINERS and not part.endswith("ing")))
        ):
            yield part
