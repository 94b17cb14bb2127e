"""What a description says that a tool does besides reading: "Messages are marked as read"."""

from __future__ import annotations

import re
from collections.abc import Iterable

from harness.models.tool_text.actions import UNMISTAKABLE
from harness.models.tool_text.instructions import ONLY_CHANGE
from harness.models.tool_text.terms import word_set

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
_EFFECT = re.compile(f"{_DOES}|{_DOING}|{_IS_DONE}|{_BECOMES}", re.IGNORECASE)
_CONDITION = re.compile(
    r"\b(?:that|which|who|whose|if|when|where|whether|once|after|before|how|why|what|until|unless|"
    r"because|since|not|no|never|without|can|could|may|must|should|use|example|e\.g)\b",
    re.IGNORECASE,
)
"""Words before which nothing is said of what the tool itself does."""
_LONGEST = 20_000  # characters of a description
_REACH = 300  # characters before a verb among which its clause begins
_CLAUSE = re.compile(r"[.!?;,(:]|\n\s*(?:\n|[-*])")


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
