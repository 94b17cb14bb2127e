r"""The readings of a text: as it is written, and as a reader sees it once it is rendered.

Rendering removes what Markdown, HTML and terminals do not show: ``CUST\_00042``, ``**CU**ST``,
`` `CUST` ``, ``[CUST](https://…)``, ``\text{CUST}``, ``CU&shy;ST``,
``C&#85;ST``, ``CU<b></b>ST``, ``CU<!-- -->ST``.
Emphasis is only removed where it has a beginning and an end, as in CommonMark: ``2 * 3``,
``a**b`` and ``snake_case_name`` stay as they are. A reader takes Cyrillic and Greek letters within
a Latin word for the Latin ones that they look like.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field

from harness.base.invisible import TERMINAL_ESCAPES

_MARKS = re.compile(r"[\\*_~`<&\[\x1b\u202e]")
"""Without one of these characters a text has only one reading."""
_ENTITY = re.compile(r"&(?:#[0-9xX]|[A-Za-z]+;)")
_QUOTE_MARKS = re.compile(r"(?<=\n)[ ]{0,3}(?:>[ ]?)+")
_TOKENS = re.compile(
    # No alternative reads on beyond the next place at which it could begin: time stays linear.
    r"\\(?P<escaped>[!-/:-@\[-`{-~\n])"
    r"|(?P<latex>\\(?:text\w{0,8}|math\w{1,8}|mbox|emph)\{)|(?P<brace>\})"
    r"|(?P<entity>&(?:#0*[0-9]{1,7}|#[xX]0*[0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});?)"
    r"|<!--(?:(?!-->|<!--).)*-->"
    r"|</?(?P<tag>[A-Za-z][A-Za-z0-9-]*)(?:\s[^<>]*|/)?>"
    r"|(?P<open>!?\[)|(?P<close>\](?P<target>\((?:[^()\[\]\n]|\([^()\n]*\))*\)|\[[^\[\]\n]*\])?)"
    r"|(?P<run>\*+|__+|(?<![^\W_])_|_(?![^\W_])|~+)|(?P<code>`+)|(?P<paragraph>\n[ \t]*\n)",
    re.DOTALL,
)
LOOKALIKES = str.maketrans(
    "авеѕіјкмнорстухѵԁɡαβερνοτυχικωАВЕЅІЈКМНОРСТУХѴΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "abesijkmhopctyxvdgabepvotyxikwABESIJKMHOPCTYXVABEZHIKMNOPTYX",
)
"""Letters of other scripts → the Latin letters that they look like."""
_OTHER_SCRIPT = re.compile("[\u0261\u0370-\u052f]")
_MIXED_WORD = re.compile(r"(?<![\w-])(?=[\w-]*[A-Za-z0-9])[\w-]+")
_REVERSED = re.compile("\u202e([^\u202a-\u202e\u2066-\u2069\n]*)")
_LOOKED_BACK = 8
"""How many beginnings of emphasis are tried for one end: a bound on the time."""
# fmt: off
_BREAKING = frozenset({
    "address", "article", "aside", "blockquote", "br", "caption", "dd", "details", "div", "dl",
    "dt", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li",
    "main", "nav", "ol", "option", "p", "pre", "section", "summary", "table", "tbody", "td",
    "tfoot", "th", "thead", "tr", "ul",
})
# fmt: on
"""Tags between which a reader sees a gap."""


def list_readings(text: str) -> tuple[str, ...]:
    """Return ``text`` as it is written and, if that is something else, as a reader sees it."""
    shown = render_text(text)
    twice = (
        render_text(shown) if _ENTITY.search(shown) else shown
    )  # some interfaces escape a text twice
    whole = _QUOTE_MARKS.sub("", shown)  # a phrase may go on in the next line of a quotation
    return tuple(dict.fromkeys((text, shown, twice, whole, _replace_lookalikes(shown))))


def _replace_lookalikes(text: str) -> str:
    """Return ``text`` with Latin letters for those that look like them, beside Latin ones."""
    if _OTHER_SCRIPT.search(text) is None:
        return text
    return _MIXED_WORD.sub(lambda word: word[0].translate(LOOKALIKES), text)


def render_text(text: str) -> str:
    """Return ``text`` as a reader sees it, without marks of Markdown, HTML and terminals."""
    if _MARKS.search(text) is None:
        return text
    if "\x1b" in text:
        # Before the marks of Markdown: a terminal's commands have brackets in them.
        text = TERMINAL_ESCAPES.sub("", text)
    if "\u202e" in text:
        text = _REVERSED.sub(lambda found: found[1][::-1], text)
    return _Rendering(text).join_visible()


@dataclass(slots=True)
class _MarkRun:
    """A run of marks that may begin emphasis."""

    part: int
    """The number of the part that it is."""
    length: int
    """Its length as it is written."""
    left: int
    """How many of its marks nothing has ended so far."""
    inside: bool
    """Whether it stands within a word, where it may also end something."""


@dataclass(slots=True)
class _Rendering:
    """A text in parts, of which some turn out not to be shown."""

    text: str
    parts: list[str] = field(default_factory=list)
    groups: int = 0
    """How many LaTeX commands for text are open."""
    links: list[int] = field(default_factory=list)
    """The numbers of the parts that may begin a link."""
    runs: dict[str, list[_MarkRun]] = field(default_factory=dict)
    """What may begin emphasis, by its mark."""

    def join_visible(self) -> str:
        """Return the parts that are shown."""
        end = 0
        for token in _TOKENS.finditer(self.text):
            self.parts.append(self.text[end : token.start()])
            self.parts.append(self._take_token(token))
            end = token.end()
        return "".join(self.parts) + self.text[end:]

    def _take_token(self, token: re.Match[str]) -> str:
        """Return what is shown of a token as far as is known, and settle what it ends."""
        match token.lastgroup:
            case "escaped":
                shown = token["escaped"]
            case "latex":
                self.groups, shown = self.groups + 1, ""
            case "brace":
                shown = "" if self.groups else token[0]
                self.groups = max(0, self.groups - 1)
            case "entity":
                shown = html.unescape(token[0])
            case "tag":
                shown = " " if token["tag"].lower() in _BREAKING else ""
            case "open":
                self.links.append(len(self.parts))
                shown = token[0]
            case "close":
                shown = self._end_link(token)
            case "run":
                shown = self._emphasise(token)
            case "paragraph":
                # No mark reaches over the end of a paragraph.
                self.links.clear()
                self.runs.clear()
                self.groups = 0
                shown = token[0]
            case _:  # a comment, or the marks of code
                shown = ""
        return shown

    def _end_link(self, token: re.Match[str]) -> str:
        begun = self.links.pop() if self.links else None
        if begun is None or token["target"] is None:
            return token[0]
        self.parts[begun] = ""
        return ""

    def _emphasise(self, token: re.Match[str]) -> str:
        """Remove the marks of a run that end others, and those; return what is left of it."""
        mark, length = token[0][0], len(token[0])
        start, end = token.span()
        before, after = self.text[max(0, start - 1) : start], self.text[end : end + 1]
        begins, ends = not (after or " ").isspace(), not (before or " ").isspace()
        if token[0] == "_":  # `_private` and `snake_case`: within a word it is no mark
            begins, ends = begins and not before.isalnum(), ends and not after.isalnum()
        left, begun = length, self.runs.setdefault(mark, [])
        while ends and left:
            place = next(
                (
                    place
                    for place in range(len(begun) - 1, max(-1, len(begun) - 1 - _LOOKED_BACK), -1)
                    if _may_pair(begun[place], length, inside=begins)
                ),
                None,
            )
            if place is None:
                break
            del begun[place + 1 :]  # emphasis does not overlap
            paired = min(begun[place].left, left)
            begun[place].left -= paired
            left -= paired
            self.parts[begun[place].part] = mark * begun[place].left
            if not begun[place].left:
                begun.pop()
        if begins and left:
            begun.append(_MarkRun(len(self.parts), length, left, ends))
        elif left > 1 and not (before.isalnum() and after.isalnum()):
            return ""  # `** Total:** 5` is meant as emphasis, although it is not well formed
        return mark * left


def _may_pair(first: _MarkRun, length: int, *, inside: bool) -> bool:
    """Whether a run may end another, by CommonMark's rule: `*a**b*` has no end at the two marks."""
    either = inside or first.inside
    return not either or (first.length + length) % 3 != 0 or length % 3 == 0
