"""Text from models and servers, made safe to show; and figures in readable form."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from harness.base.redaction import KNOWN

_ALWAYS = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, but not tab and newline
    # soft hyphens, fillers, zero-width spaces, invisible signs
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u206a-\u206f"
    "\u3164\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks that turn the direction of a text
    "\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff"  # line separators, byte order, no characters
    "\U00013430-\U00013440"  # joiners of hieroglyphs
    "\U000e0000-\U000e0fff"  # tags, further variation selectors: whole messages were hidden in them
)
_JOINING = "\u200c\u200d\ufe00-\ufe0f"
_SHOWN = r"[^\x00-\x7f\u200b-\u200f\ufe00-\ufe0f]"
"""Characters that a joiner or a selector may belong to."""

HIDDEN = re.compile(
    f"[{_ALWAYS}]"
    f"|(?<!{_SHOWN})(?<!{_SHOWN}\ufe0f)[\u200c\u200d]|[\u200c\u200d](?!{_SHOWN})"
    f"|(?<!{_SHOWN})[\ufe00-\ufe0f](?!\u20e3)"
)
"""Finds a hidden character."""
TERMINAL_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-_]?"
)
"""Finds a command to a terminal, such as another colour, of which a reader sees nothing."""
_LEFT_OUT = re.compile(rf"[{_ALWAYS}{_JOINING}](?<!\s)")  # white space is seen, as a gap


def without_hidden(text: str) -> str:
    """Return ``text`` without its hidden characters, except those that are white space."""
    return _LEFT_OUT.sub("", text)


def escape_hidden(text: str) -> str:
    r"""Return ``text`` with every hidden character as ``\x1b``, ``\u202e`` or ``\U000e0041``."""
    return HIDDEN.sub(lambda found: escape_character(found[0]), text)


def escape_character(character: str) -> str:
    """Return the escape of a character, as Python reads it, and YAML in double quotation marks."""
    code = ord(character)
    if code <= 0xFF:  # noqa: PLR2004 - two digits
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 - four digits


_COMMANDS = re.compile(r"^(?P<lead>[^\S\n]*)::|##(?=\[)", re.MULTILINE)
"""Text in a log that a CI system takes for a command: ``::error …`` and ``##[error]``."""


def make_printable(text: str) -> str:
    """Return ``text`` without secrets, terminal escapes, CI commands and hidden characters.

    Hidden characters are escaped, the others removed.
    """
    # A carriage return counts as hidden, but not in a line end of Windows.
    plain = escape_hidden(TERMINAL_ESCAPES.sub("", KNOWN.redact_text(text).replace("\r\n", "\n")))
    # A space breaks the command, and a reader still sees what was written.
    return _COMMANDS.sub(
        lambda found: "# #" if found["lead"] is None else f"{found['lead']}: :", plain
    )


def make_one_line(text: str) -> str:
    """Return ``text`` harmless and on one line, every run of white space a single space."""
    return " ".join(make_printable(text).split())


def escaped_json(text: str) -> str:
    """Return an equivalent JSON text in which every hidden character is escaped."""
    return HIDDEN.sub(lambda found: json.dumps(found.group())[1:-1], text)


def limit_text(text: str, limit: int) -> str:
    """Return ``text`` made safe, cut to ``limit`` characters with a note of how much is missing."""
    text = KNOWN.redact_text(text)  # a secret that is cut in two would not be known any more
    if len(text) <= limit:
        return make_printable(text)
    return (
        f"{make_printable(text[:limit])}\n… {len(text) - limit:,} more characters are in "
        f"the run log"
    )


def shorten_text(text: str, limit: int) -> str:
    """Return ``text`` redacted, in at most ``limit`` characters, with an ellipsis if cut."""
    text = KNOWN.redact_text(text)  # before it is cut, as above
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def shorten_middle(text: str, limit: int) -> str:
    """Return ``text`` as `shorten_text` does, but cut in its middle.

    Names of one family often differ at their end alone.
    """
    text = KNOWN.redact_text(text)
    if len(text) <= limit:
        return text
    end = limit // 2
    return f"{text[: limit - 1 - end].rstrip()}…{text[-end:].lstrip() if end else ''}"


def format_seconds(value: float) -> str:
    """Return a duration: ``40 ms``, ``3.2 s``, ``2 min 5 s``."""
    if value < 1:
        return f"{value * 1000:.0f} ms"
    if value < 60:  # noqa: PLR2004 - seconds in a minute
        return f"{value:.1f} s"
    return f"{int(value // 60)} min {int(value % 60)} s"


def format_money(value: float | None) -> str:
    """Return dollars with the significant digits, or ``unknown``."""
    if value is None:
        return "unknown"
    return f"${value:.2f}" if value >= 0.1 or value == 0 else f"${value:.4f}"  # noqa: PLR2004 - a dime


def format_count(number: int, noun: str) -> str:
    """Return ``number`` and its ``noun``, in the plural unless it is 1."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def format_number(value: int | None) -> str:
    """Return a count with separators of thousands, or ``unknown``."""
    return "unknown" if value is None else f"{value:,}"


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
    # Some interfaces escape a text twice.
    twice = render_text(shown) if _ENTITY.search(shown) else shown
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
                from html import unescape  # its table of names takes longer to load than this room

                shown = unescape(token[0])
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
            newest = range(len(begun))[: -_LOOKED_BACK - 1 : -1]
            pairing = (place for place in newest if _may_pair(begun[place], length, inside=begins))
            if (place := next(pairing, None)) is None:
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
