"""The visible answer: what a reader of a reply sees, apart from what the model thought.

Model families and endpoints mark thinking in the text in many ways (`_MARKS`). A marked block is
thinking where it opens the reply, where it stands at the start of a line or of a sentence and is
closed, and anywhere if its marks are special tokens, or opened the reply before. A mark that opens
the reply and is never closed makes all of it thinking; one that closes what was never opened, as of
models whose prompt opens it, makes all before it thinking. In code (between backquotes), in
quotation marks, and where a text speaks of the mark (``the <think> tag``, ``what does </think>
mean?``), it is visible text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

_NAME = (
    r"(?:[\w.-]{1,20}:)?(?:(?:longcat|chain[_-]of|self|scratchpad|hidden|private)[_-])?(?:think(?:ing)?|thoughts?|(?:thought|thinking)[_-]process"
    r"|reason(?:ing)?|reflection|scratch[_-]?pad|ant[_-]?thinking|cot"
    r"|(?:inner|internal)[_-](?:monologue|thoughts?|thinking|reasoning))"
)
_THOUGHT = r"(?:think(?:ing)?|thoughts?|reasoning)"
_BAR = r"[|｜]"
_GAP = r"[_▁ ]"


class _Mark(NamedTuple):
    opens: str
    closes: str
    where: Literal["anywhere", "sentence", "start"]
    """Where a first block may begin; what is not "anywhere" is written by people, too."""
    closed: bool = False
    """Whether it is no thinking without its end."""


_MARKS = (
    # DeepSeek, Qwen and most others; Seed's <seed:think>; prompts for Claude; Open WebUI's details.
    _Mark(rf"<{_NAME}(?:\s[^<>]{{0,200}})?/?>", rf"<\s*/\s*{_NAME}\s*>", "sentence"),
    _Mark(
        r"<details\s[^<>]{0,200}type=[\"']reasoning[\"'][^<>]{0,200}>"
        r"|<details[^<>]{0,200}>\s*<summary>[^<\w]{0,9}(?:think|thought|reasoning)[^<]{0,80}</summary>",
        r"</details>",
        "start",
    ),
    # Solar; s1; Magistral, and prompts for the like; Kimi; Open Thoughts, Cohere and others;
    # Apertus; Gemma.
    _Mark(
        r"(?:<\|begin\|>assistant)?<\|think\|>",
        r"<\|end\|>|</\|think\|>|<\|(?:/|end_)think\|>|(?=<\|begin\|>)",
        "anywhere",
    ),
    _Mark(r"<\|im_start\|>think\b", r"<\|im_start\|>answer\b", "anywhere"),
    _Mark(rf"\[(?!(?-i:THINK)){_THOUGHT}\]", rf"\[/{_THOUGHT}\]", "start", closed=True),
    _Mark(r"\[(?-i:THINK|THINKING)\]", r"\[/(?-i:THINK|THINKING)\]", "anywhere"),
    _Mark(rf"◁{_THOUGHT}▷", rf"◁/{_THOUGHT}▷", "anywhere"),
    _Mark(
        rf"<{_BAR}(?:(?:begin|start){_GAP}(?:of{_GAP})?)?{_THOUGHT}{_BAR}>",
        rf"<{_BAR}(?:end{_GAP}(?:of{_GAP})?|/){_THOUGHT}{_BAR}>|</{_BAR}{_THOUGHT}{_BAR}>",
        "anywhere",
    ),
    _Mark(r"<\|inner_prefix\|>", r"<\|inner_suffix\|>", "anywhere"),
    _Mark(r"<unused94>(?:thought\b)?", r"<unused95>", "anywhere"),
    _Mark(r"<\|channel>thought\b", r"<channel\|>", "anywhere"),
    # gpt-oss, with its special tokens and without.
    _Mark(
        r"(?:<\|start\|>assistant)?<\|channel\|>\s*analysis\b[^<]{0,200}(?:<\|constrain\|>[^<]{0,200})?<\|message\|>",
        r"<\|(?:end|return|call)\|>|(?=<\|(?:start|channel)\|>)",
        "anywhere",
    ),
    _Mark(r"analysis", r"assistantfinal", "start", closed=True),
    # Granite; Ollama's command; a block of code that says so.
    _Mark(
        r"Here(?:'s|’s| is) my thought process:",
        r"Here(?:'s|’s| is) my response:",
        "start",
        closed=True,
    ),
    _Mark(r"Thinking\.\.\.\s*\n", r"\n?\.\.\.done thinking\.", "start", closed=True),
    _Mark(rf"```{_THOUGHT}[ \t]*\n", r"\n```(?!\S)", "start", closed=True),
)
_TAG = _MARKS[0]

_WRAPS = (
    r"(?:<\|start\|>assistant)?<\|channel\|>\s*(?:final|commentary)\s*"
    r"(?:<\|constrain\|>\s*\w{1,20}\s*)?<\|message\|>"
    r"|<\|(?:end|return)\|>|<\|(?:start|begin)\|>assistant\b|<\|content\|>"
    rf"|<{_BAR}(?:begin|start|end){_GAP}(?:of{_GAP})?(?:solution|response|text|answer|box|sentence)"
    rf"{_BAR}>|<{_BAR}im_start{_BAR}>assistant\n?|<{_BAR}im_(?:end|sep){_BAR}>"
    rf"|<{_BAR}assistant{_BAR}>"
)
"""Special tokens around what is visible."""

_CODE = (
    r"(?:(?<!.)|(?<=\n)|(?<=\n )|(?<=\n {2})|(?<=\n {3}))"
    r"(?P<fence>```|~~~)[^\n]*\n.*?\n[ ]{0,3}(?P=fence)"
    r"|(?P<tick>`+)[^`\n](?:[^\n]*?[^`\n])?(?P=tick)(?!`)"
)
_SEEN = re.compile(
    "(?=[<\\[◁`~])(?:"  # nearly all characters are done with here
    + "|".join(
        [
            *(
                f"(?P<o{place}>{mark.opens})"
                for place, mark in enumerate(_MARKS)
                if mark.where != "start"
            ),
            *(
                f"(?P<c{place}>{mark.closes})"
                for place, mark in enumerate(_MARKS)
                if mark.where != "start" and "(?=" not in mark.closes
            ),
            f"(?P<wrap>{_WRAPS})",
            f"(?P<code>{_CODE})",
        ]
    )
    + ")",
    re.IGNORECASE | re.DOTALL,
)
_STARTS = re.compile(
    "|".join(
        f"(?P<o{place}>{mark.opens})" for place, mark in enumerate(_MARKS) if mark.where == "start"
    ),
    re.IGNORECASE,
)
"""Marks that count only where nothing visible stands before them."""
_EITHER = tuple(
    re.compile(f"(?P<open>{mark.opens})|(?P<close>{mark.closes})", re.IGNORECASE | re.DOTALL)
    for mark in _MARKS
)
_HINTS = (
    ("<", "◁", "[think", "[/think", "[thought", "[reasoning", "assistantfinal", "my response:",
     "done thinking", "```"),
    ("think", "thought", "reason", "reflect", "scratch", "monologue", "cot>", "cot ", "analysis",
     "<|", "<｜", "<unused9"),
)  # fmt: skip
"""Every marked text holds one of each, in lower case; nearly all others are done with here."""
_ANSWER = re.compile(
    r"\s*<(?P<name>answer|response|final_answer|final|solution|output)>"
    r"(?P<text>(?:(?!</(?P=name)>).)*)(?P<end></(?P=name)>)?\s*",
    re.IGNORECASE | re.DOTALL,
)
"""What some models write around their answer after they have thought."""
_SENTENCE = re.compile(r"(?:^[ \t]*|\n[ ]{0,3}|[.!?…][\"”’')*]*[ \t]*)\Z")
_ANNOUNCED = re.compile(r":[ \t]*\n\s*\Z")
_INDENTED = re.compile(r"\n(?:[ ]{4}|\t)[ \t]*\Z")
_WITHIN = re.compile(r"(?:[\w,;:(=|]|(?:^|\n)[-*+])[ ]\Z")
_GOES_ON = re.compile(r"[ ](?:[a-z(|]|[-–—][ ])|[.,;:!?)]{1,2}(?:[\s<]|\Z)")
"""With `_WITHIN` before a mark: it stands within a sentence, or in a cell of a table."""
_SPOKEN_OF = re.compile(
    r"(?:-|[ ]+)(?:tags?|tokens?|blocks?|elements?|markers?|marks?|sections?|pairs?)\b"
    r"|[ ]+(?:and|or|to)[ ]+[\"'`“]?[<◁\[]|[ ]+(?:is|isn['’]t|are|was|means?)[ ]"
    rf"|[ ]*[,/][ ]*<{_NAME}>"
)
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "`": "`", "\\": ""}


class DividedText(NamedTuple):
    """A text in its two parts."""

    visible: str
    """What a reader sees."""
    thinking: str
    """What the model thought, without marks; empty if nothing is marked."""


def divide_thinking(text: str) -> DividedText:
    """Return the visible part of ``text`` and the thinking in it; an unmarked text is unchanged."""
    small = text.lower()
    if not all(any(hint in small for hint in hints) for hints in _HINTS):
        return DividedText(text, "")
    return _ThinkingDivider(text).divide_text()


class _ThinkingDivider:
    """One pass over a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._kept: list[str] = []
        self._keeps_visible = False  # whether any of it is more than white space
        self._thought: list[str] = []
        self._place = 0  # all before it is kept, thought or dropped
        self._opened: set[int] = set()  # marks that opened the reply
        self._unclosed: set[int] = set()
        self._passed: dict[int, int] = {}  # where the last opening in the visible text ends
        self._changed = False

    def divide_text(self) -> DividedText:
        at = 0
        while (found := self._find_next_mark(at)) is not None:
            at = max(self._handle_mark(found), found.start() + 1)
        self._kept.append(self._text[self._place :])
        thinking = "\n\n".join(filter(None, map(str.strip, self._thought)))
        if not self._changed:
            return DividedText(self._text, "")
        visible = _join_pieces(self._kept)
        answer = _ANSWER.fullmatch(visible) if self._thought else None
        return DividedText((answer["text"] if answer else visible).strip(_BLANK), thinking)

    def _find_next_mark(self, at: int) -> re.Match[str] | None:
        if at == self._place and not self._visible_before(at):
            start = _SHOWN.search(self._text, at)
            if start and (first := _STARTS.match(self._text, start.start())) is not None:
                return first
        return _SEEN.search(self._text, at)

    def _handle_mark(self, found: re.Match[str]) -> int:
        """Do what a mark says, and return where to go on."""
        kind = found.lastgroup or ""
        if kind == "code":
            return found.end()
        if _is_mentioned(self._text, found):
            return self._pass_mark(found, int(kind[1:])) if kind[0] == "o" else found.end()
        within = self._is_within(found)
        if kind == "wrap":
            return found.end() if within else self._cut_range(found.start(), found.end())
        place = int(kind[1:])
        if kind[0] == "c":
            return found.end() if within else self._close_block(found, place)
        if within and (_MARKS[place].where == "anywhere" or not within[0][-1:].isalpha()):
            return self._pass_mark(found, place)
        return self._open_block(found, place)

    def _open_block(self, found: re.Match[str], place: int) -> int:
        mark = _MARKS[place]
        leads = not self._visible_before(found.start())
        before = self._get_line_before(found)
        begins = bool(_SENTENCE.search(before))
        alone = before.endswith("\n") and self._text.startswith("\n", found.end())
        known = place in self._opened
        if not (
            leads or mark.where == "anywhere" or (mark.where == "sentence" and (begins or known))
        ):
            return self._pass_mark(found, place)
        if found[0].endswith("/>"):
            end: tuple[int, int] | None = (found.end(), found.end())
        else:
            end = None if place in self._unclosed else _find_end(self._text, found, place)
        rest_is_thinking = leads or mark.where == "anywhere" or (begins and (known or alone))
        announced = not leads and not known and _ANNOUNCED.search(before)
        if end is None and (mark.closed or announced or not rest_is_thinking):
            self._unclosed.add(place)
            return self._pass_mark(found, place)
        if end and announced and mark.where == "sentence":
            return end[1]  # what a line announces is shown, as an example or a file
        if end is None:
            end = _find_last_answer(self._text, found.end())
        if leads:
            self._opened.add(place)
        inner, outer = end or (len(self._text), len(self._text))
        self._cut_range(found.start(), outer)
        self._thought.append(self._text[found.end() : inner])
        return outer

    def _pass_mark(self, found: re.Match[str], place: int) -> int:
        self._passed[place] = found.end()
        return found.end()

    def _close_block(self, found: re.Match[str], place: int) -> int:
        """Take all before the end of thinking that was opened in the prompt for thinking."""
        opened = self._passed.get(place)
        if opened is not None and self._text.find("\n", opened, found.start()) < 0:
            return found.end()  # a pair in a sentence about it
        self._cut_range(found.start(), found.end())
        self._thought.append(_join_pieces(self._kept))
        self._kept, self._keeps_visible = [], False
        self._opened.add(place)
        return found.end()

    def _cut_range(self, start: int, end: int) -> int:
        """Keep what stands before ``start``, and go on at ``end``."""
        self._keeps_visible = self._visible_before(start)
        self._kept.append(self._text[self._place : start])
        self._place, self._changed = end, True
        return end

    def _is_within(self, found: re.Match[str]) -> re.Match[str] | None:
        """Return what shows that a mark stands within a visible sentence, or in indented code."""
        if not self._visible_before(found.start()):
            return None
        before = self._get_line_before(found)
        within = _GOES_ON.match(self._text, found.end()) if _WITHIN.search(before) else None
        return within or _INDENTED.search(before)

    def _visible_before(self, start: int) -> bool:
        return self._keeps_visible or bool(_SHOWN.search(self._text, self._place, start))

    def _get_line_before(self, found: re.Match[str]) -> str:
        """Return what is left of the line, or somewhat more, before a mark."""
        return self._text[max(self._place, found.start() - _LINE) : found.start()]


_LINE = 200
"""Characters before a mark that tell whether a sentence begins there."""
_BLANK = " \t\r\n\f\v\ufeff\u200b\u00a0"
_SHOWN = re.compile(f"[^{_BLANK}]")


def _find_end(text: str, opening: re.Match[str], place: int) -> tuple[int, int] | None:
    """Return start and end of the mark that closes ``opening``, nested blocks left out."""
    same = _tag_name(opening[0]) if _MARKS[place] is _TAG else None
    depth, last, other = 1, None, None
    for found in _EITHER[place].finditer(text, opening.end()):
        is_end = found["close"] is not None
        if _is_mentioned(text, found) or (same is not None and _tag_name(found[0]) != same):
            other = other or (found.span() if is_end else None)
            continue
        depth += -1 if is_end else 1
        if depth == 0:
            return found.span()
        last = found.span() if is_end else last
    return last or other  # an opening mark that is never closed was a word of the thinking


def _find_last_answer(text: str, start: int) -> tuple[int, int] | None:
    """Return where the marked answer begins that ends a text whose thinking nothing closes."""
    place = max(text.rfind(f"<{name}>", start) for name in ("answer", "response", "final_answer"))
    found = _ANSWER.fullmatch(text, place) if place >= 0 else None
    return (place, place) if found and found["end"] else None


def _tag_name(tag: str) -> str:
    return tag.strip("</> \t\n").split()[0].rstrip("/").lower()


def _is_mentioned(text: str, found: re.Match[str]) -> bool:
    """Whether the text is about the mark: it stands in quotation marks, or is called a tag."""
    before, after = text[max(0, found.start() - 1) : found.start()], text[found.end() :][:1]
    if before and before in _QUOTES and (not _QUOTES[before] or _QUOTES[before] == after):
        return True
    return found[0][0] in "<[◁" and _SPOKEN_OF.match(text, found.end()) is not None


def _join_pieces(pieces: Sequence[str]) -> str:
    """Return the pieces as one text; words on both sides of a mark stay two."""
    whole = ""
    for piece in pieces:
        glued = whole and piece and not whole[-1].isspace() and not piece[0].isspace()
        whole += ("\n" if glued else "") + piece
    return whole


# ── Thinking in fields and parts ─────────────────────────────────────────────────────────────

_VISIBLE_TYPES = ("", "text", "output_text", "refusal")
"""Types of the parts of a message that are visible; every other is not."""
_FIELDS = ("reasoning_content", "reasoning", "reasoning_text", "thinking", "thinking_blocks")
_INNER = ("thinking", "text", "reasoning", "reasoning_text", "content", "summary")


def is_visible(part: Mapping[str, Any]) -> bool:
    """Whether a part of a message, which has a text, is shown to the user."""
    return part.get("type") in (None, *_VISIBLE_TYPES) and part.get("thought") is not True


def extract_thinking(message: Mapping[str, Any], parts: Iterable[Mapping[str, Any]] = ()) -> str:
    """Return the thinking that an API puts into fields of a message, or into parts of it."""
    fields = [_extract_text(message.get(name)) for name in _FIELDS]
    if not any(fields):  # OpenRouter's details repeat the field
        fields = [_extract_text(message.get("reasoning_details"))]
    hidden = [_extract_text(part) for part in parts if not is_visible(part)]
    return "\n\n".join(dict.fromkeys(filter(None, map(str.strip, (*fields, *hidden)))))


def _extract_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return next(filter(None, (_extract_text(value.get(name)) for name in _INNER)), "")
    if isinstance(value, list):
        return "\n".join(filter(None, map(_extract_text, value)))
    return ""
