"""Rules on orders to the model that hide in what a server says of itself: tool poisoning.

A description is to say what a tool does. What these rules find instead speaks to the model: of its
instructions, of other tools, of what to keep from the user. They read English.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache

from harness.base import HIDDEN, escape_character, format_count, make_one_line, shorten_text
from harness.descriptions.linting.findings import Family, LintFinding, Rule, reported_evidence
from harness.descriptions.linting.model_texts import (
    ModelText,
    decode_tags,
    iterate_texts,
    list_hidden_readings,
)
from harness.types import ToolList

_QUOTED = 100  # characters of a text in a message
_FAR = 80  # white space in a row that moves a text out of sight
_FAR_LINES = 15
_SAYS_SOMETHING = re.compile(r"\S\s+\S|_|[^\x00-\x7f]|[\w+/]{24}|<")
"""Finds a text that may give an order; a single word does not, and schemas are full of them."""


def _allow_words(most: int) -> str:
    """Return a pattern of at most so many words within a sentence, and what separates them."""
    return rf"(?:[^\w.!?]+\w+){{0,{most}}}?[^\w.!?]+"


_USER = r"(?:the |your |an? |any )?(?:user|human|customer)s?\b"
_OUTSIDE = r"(?:[\w.+-]+@[\w-]+\.\w|https?://)"
_SENDING = r"(?:b?cc|forward|send|copy|upload|post|submit|report|e-?mail|transmit|redirect)"
_MODELS = r"(?:AI (?:assistant|agent|model)|LLM|assistant)s?"
_ENDING = r"(?:tool|data|description|record|document|context|input|result)s?"
_PATTERNS: Mapping[str, tuple[str, ...]] = {
    "tells a model to drop its instructions": (
        (
            rf"\b(?:ignore|disregard|forget){_allow_words(3)}(?:previous|prior|above|earlier|preceding|your"
            rf"|system|all|any|other){_allow_words(2)}(?:instructions?|prompts?|guidelines|directives|orders)\b"
        ),
        (
            rf"\b(?:override|bypass){_allow_words(2)}(?:previous|prior|earlier|your|safety){_allow_words(2)}"
            r"(?:instructions?|prompts?|guidelines|rules)\b"
        ),
        r"\byour (?:new|real|actual|true|only) (?:instructions?|task|goal|orders?) (?:is|are)\b",
        r"(?m:^\W{0,20}new (?:task|instructions?)\s*:)",
    ),
    "tells a model to keep something from the user": (
        (
            r"\b(?:do not|don['’]?t|never|must not|not to|without|avoid)"
            rf"{_allow_words(2)}(?:tell|inform|notify|mention|alert|warn|reveal|disclos)(?:e|ing|ying)?\b"
            rf"{_allow_words(6)}{_USER}"
        ),
        rf"\bwithout {_USER}(?:['’]s?)? (?:know|notic|aware|being (?:told|aware|informed))",
        (
            rf"\b{_USER} (?:must|should|may|need) ?(?:not|n['’]t) (?:know|notice|learn|hear"
            r"|find out|be (?:told|informed|aware))"
        ),
        rf"\b(?:hide|conceal|keep) (?:this|it|these|that){_allow_words(3)}from {_USER}",
        r"\b(?:silently|secretly|covertly) (?:send|forward|copy|call|add|include|read|upload|pass)",
    ),
    "gives orders for whenever it is listed": (
        (
            r"\b(?:when(?:ever)?|if|while|as long as|once) this (?:tool|function) is "
            r"(?:listed|available|present|loaded|offered|installed)\b"
        ),
        (
            r"\b(?:if|when(?:ever)?|once) (?:another|(?:any )?other) tools? (?:has|have|is|are) "
            r"(?:been )?(?:called|used|invoked|listed|present|offered|on the list)\b"
        ),
        r"\beven (?:if|when) (?:this tool|it) is (?:not|never) (?:used|called|invoked)",
        r"(?:\b(?-i:From)|[.!?:;]\s+from) (?:now|here|this point) on(?:wards?)?\b",
    ),
    "sends what it gets elsewhere": (
        (
            r"\b(?:always|must|also|every time|each time|whenever|be sure to)"
            rf"{_allow_words(8)}{_SENDING}\b{_allow_words(8)}{_OUTSIDE}"
        ),
        rf"\b{_SENDING} (?:all|every|each|any){_allow_words(6)}to\s+{_OUTSIDE}",
        (
            rf"\b(?:include|pass|send|attach|append|put|add|copy|write|forward|share|repeat|reveal)\b"
            rf"{_allow_words(4)}(?:(?:whole|entire|full|complete) (?:conversation|chat|dialogue)\b"
            r"|your (?:own )?(?:system (?:prompt|message)|instructions)\b)"
        ),
    ),
    "dictates the answer": (
        (
            rf"\b(?:write|say|begin|start|end|finish)\b{_allow_words(4)}your (?:\w+ )?"
            r"(?:answer|reply|replies|response)s?\b"
        ),
    ),
    "imitates the marks of a system prompt or a turn": (
        (
            r"<(important|system|secret|hidden|admin|override|urgent|critical|mandatory|developer)\b"
            r"[^<>]{0,80}>(?:(?!<\1\b).){0,4000}?</\1>"
        ),
        r"(?-i:<(?:IMPORTANT|SYSTEM|SECRET|INSTRUCTIONS?)>)",
        r"<\|\w{2,20}\|>|\[/?INST\]|<</?SYS>>|\n\n(?-i:Human): ",
        (
            rf"(?m:^[\W_]{{0,20}}end of (?:the )?(?:list of )?{_ENDING}"
            r"(?: (?:descriptions?|list))?[\W_]{0,20}$)"
        ),
        r"(?m:^\W{0,20}system prompt\b[^:\n]{0,20}:)",
    ),
    "gives orders to every assistant": (
        rf"\b(?:every|all|any|each) {_MODELS}\b{_allow_words(8)}(?:must|shall|have to|has to)\b",
        rf"\b{_MODELS} (?:that|who|which){_allow_words(8)}(?:must|shall|have to|has to)\b",
    ),
    "tells a model to decode an order": (
        (
            r"\b(?:decode|decrypt|decipher|reverse|unscramble)\b[^.!?]{0,80}?\b(?:and|then) "
            r"(?:do (?:what|as|it)|follow|obey|act on)\b"
        ),
    ),
}
_OTHER_CALLS = (
    (
        r"\b(?:before|after) (?:you )?(?:(?:us|call|invok|runn?)(?:e|ing)? )?(?:any|every|each|all)"
        r"(?: other)? (?:tool calls?|tools?|functions?|calls?)\b[^.!?]{0,30}?"
        r"\b(?:call|use|run|invoke|read|open|send|fetch|pass|forward)\b"
        r"(?:[^\w.!?]+(?:the|a|an|tool))*[^\w.!?]+(?P<what>[\w.-]+)"
    ),
    (
        r"\b(?:call|use|run|invoke)[^\w.!?]+(?:the )?(?P<what>[\w-]+)[^.!?]{0,20}?"
        r"\b(?:before|after) (?:(?:us|call|invok)(?:e|ing) )?(?:any|every|each|all)(?: other)? "
        r"(?:tool|function)s?\b"
    ),
)
"""A call before or after every other; sound if it is of this server's own tools."""
_ITSELF = frozenset(("this", "it", "me", "one", "them", "these", "at", "only", "first", "tool"))

_PRIVATE = (
    r"(?:\.ssh\b(?!/(?:known_hosts|config|authorized_keys|\w+\.pub))"
    r"|\bid[_ ](?:rsa|ed25519)\b(?!\.pub)"
    r"|\.env\b|\.aws/credentials|\.(?:cursor|claude|codeium|vscode)\b|\bmcp\.json"
    r"|claude_desktop_config|\.npmrc|\.netrc|\.pgpass|\.git-credentials|\.kube/config"
    r"|\.docker/config|/etc/(?:passwd|shadow)|\.bash_history|\.gnupg|wallet\.dat"
    r"|\b(?:saved passwords|browser cookies)\b)"
)
_GIVING = (
    r"(?:pass|send|include|put|attach|provide|add|append|forward|share|write|upload|post|copy)"
)
_ASKING = (
    rf"\b{_GIVING}\b{_allow_words(5)}(?:contents?|what|everything|text|values?)\b(?:{_allow_words(5)})?{_PRIVATE}",
    (
        rf"\b(?:read|open|cat|load|fetch|access)\b{_allow_words(5)}{_PRIVATE}[^!?]{{0,80}}?\b(?:and|then)\b"
        rf"{_allow_words(3)}{_GIVING}\b"
    ),
    rf"\b(?:always|must|first|before){_allow_words(5)}(?:read|open|cat|load|access)\b{_allow_words(5)}{_PRIVATE}",
    rf"\b{_GIVING}{_allow_words(2)}(?:all|your|user['’]s) (?:environment variables|env vars)\b",
    rf"\bcontents?[_ ](?:from|of)[_ ](?:\w+[_ ])*?{_PRIVATE}",
)


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


def check_orders(tools: ToolList) -> Iterator[LintFinding]:
    """Yield the texts that give orders to the model, ask for secrets, or hide something."""
    own = {tool.name.casefold() for tool in tools.tools} | _ITSELF
    for one in iterate_texts(tools):
        if hidden := _find_hidden(one.text):
            yield _build_finding("hidden-text", one, hidden)
        if _SAYS_SOMETHING.search(one.text) is None:
            continue
        readings = list_hidden_readings(one.text)
        if orders := _find_orders(readings, own):
            yield _build_finding("order-to-model", one, orders)
        if secret := _find_first(_ASKING, readings):
            yield _build_finding("asks-for-secrets", one, f"asks for local secrets: {secret}")


def _build_finding(rule: str, one: ModelText, what: str) -> LintFinding:
    return LintFinding(
        rule=rule,
        tool=one.tool,
        parameters=(one.parameter,) if one.parameter else (),
        message=f"{make_one_line(one.place)} {what}.",
    )


def _quote(text: str) -> str:
    return f"“{shorten_text(make_one_line(text[: 4 * _QUOTED]), _QUOTED)}”"


def _find_first(patterns: Collection[str], readings: Collection[str]) -> str:
    """Return the first match in quotation marks; empty if there is none."""
    found = (_compile(pattern).search(text) for pattern in patterns for text in readings)
    return next((_quote(match.string[match.start() :]) for match in found if match), "")


def _find_orders(readings: Collection[str], own: Collection[str]) -> str:
    said = [
        f"{what}: {found}"
        for what, patterns in _PATTERNS.items()
        if (found := _find_first(patterns, readings))
    ]
    calls = (
        match for pattern in _OTHER_CALLS for text in readings
        for match in _compile(pattern).finditer(text)
    )  # fmt: skip
    for match in calls:
        if match["what"].rstrip(".-").casefold() not in own:
            quote = _quote(match.string[match.start() :])
            return "; ".join((*said, f"ties another call to every call: {quote}"))
    return "; ".join(said)


_SOUND_HIDDEN = re.compile(
    "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"  # flags of regions
    "|(?<=[\u3400-\u9fff\U00020000-\U0003ffff])[\U000e0100-\U000e01ef]"  # forms of a Han character
    "|\r(?=\n)|^\ufeff"
)
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_DIRECTION = re.compile("[\u061c\u200e\u200f\u2066-\u2069]")
_COMMENT = re.compile(r"<!--((?:(?!<!--).){3,4000}?)-->", re.DOTALL)


def _find_hidden(text: str) -> str:
    """Return what ``text`` hides from a person's eyes, in words; empty if nothing."""
    if text.isascii() and text.isprintable() and " " * _FAR not in text and "<!--" not in text:
        return ""
    shown = _SOUND_HIDDEN.sub("", text)
    if _RIGHT_TO_LEFT.search(shown):
        shown = _DIRECTION.sub("", shown)  # a text in Arabic or Hebrew may need these marks
    if found := HIDDEN.findall(shown):
        names = ", ".join(escape_character(one) for one in list(dict.fromkeys(found))[:5])
        tags = decode_tags(shown)
        reads = f", which read {_quote(tags)}" if tags else ""
        return f"has {format_count(len(found), 'invisible character')} ({names}){reads}"
    if comment := _COMMENT.search(text):
        return f"has a comment that people are not shown: {_quote(comment[1])}"
    far = next((gap for gap in re.finditer(r"\s+", text) if _is_far(gap)), None)
    return f"goes on far out of sight: {_quote(text[far.end() :])}" if far else ""


def _is_far(gap: re.Match[str]) -> bool:
    """Whether the white space ``gap`` moves what follows out of sight."""
    lines = gap[0].split("\n")
    return gap.end() < len(gap.string) and (len(lines) > _FAR_LINES or max(map(len, lines)) >= _FAR)


_MCPTOX = "MCPTox, arXiv 2508.14925"
FAMILY = Family(
    check=check_orders,
    rules={
        "hidden-text": Rule(
            severity="warning",
            why="A model reads what a person who approves the tool does not see.",
            instead="Remove it. If it is an accident of copying, nothing is lost.",
            evidence=reported_evidence(
                "orders are hidden in tag characters, zero-width characters and white space",
                "Unit 42, Model Context Protocol attack vectors; Invariant Labs, April 2025",
            ),
            security=True,
        ),
        "order-to-model": Rule(
            severity="warning",
            why="Models follow it, also when the tool is never called.",
            instead="Say what the tool does and when to use it. If you did not write this text, "
            "do not connect the server.",
            evidence=reported_evidence(
                "orders in descriptions hijacked 20 models in 36.5 % of the cases, one in 72.8 %",
                _MCPTOX,
            ),
            security=True,
        ),
        "asks-for-secrets": Rule(
            severity="warning",
            why="A model with access to files hands the user's secrets to the server.",
            instead="Let the server take its credentials from its own configuration.",
            evidence=reported_evidence(
                "a description made clients send keys and configuration as an argument",
                "Invariant Labs, MCP Security Notification: Tool Poisoning Attacks, April 2025",
            ),
            security=True,
        ),
    },
)
"""The rules on orders to the model."""
