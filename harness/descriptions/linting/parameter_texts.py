"""Finds what a tool's own description says about its parameters.

Many servers describe parameters where the docstring of the function does, and that text arrives as
the description of the tool: under "Args:" or "Parameters", as ``:param name:`` or ``@param name``,
in Markdown lists, headings and tables, or in a sentence about `name`. Whatever the layout, an entry
begins its line with the name of a parameter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from harness.models import split_words, word_set
from harness.types import dataclass

_LONGEST = 20_000  # letters of a description that are read
_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_ON_HEADING_LINE = re.compile(
    r"(?:^|[ \t])(?:Args|Arguments|Param(?:eter)?s|Inputs?):[ \t]+(?=\S)", re.IGNORECASE
)
_TITLE = re.compile(r"^[ \t]*(?:#{1,6}[ \t]|\*\*)?[ \t]*(?P<title>[A-Za-z][\w /-]{0,40}?)[*: \t]*$")
_NOT_INPUT = re.compile(
    r"^[ \t#*]*(?:returns?|yields?|raises?|outputs?|responses?|results?|examples?|throws|errors?)"
    r"(?:[ \t]+\w+){0,3}[*: \t]*(?::.*)?$",
    re.IGNORECASE,
)
"""The first line of a section that is not about the arguments."""
_INPUT = re.compile(
    r"^[ \t#*]*(?:(?:\w+[ \t]+){0,3}(?:args|arguments|param(?:eter)?s|inputs?|options|fields)"
    r"|required|optional)\b[^:\n]{0,30}[*: \t]*$",
    re.IGNORECASE,
)
_TYPE_WORDS = word_set(
    "str string text int integer float number bool boolean list dict object array any optional "
    "required none null default true false of or map tuple union literal"
)
"""Words of a text that says no more than the type."""
_PLACEHOLDERS = word_set("string str value id text your here")
_LISTS_NAMES = re.compile(
    r"[\s*-]*(?:required|optional|param(?:eter)?s|args)\b[^:]*:", re.IGNORECASE
)
_FEWEST_WORDS = 4  # of a sentence around a name in code, beside other names
_QUOTES = r"[`'\"*_]{0,3}"


@dataclass(frozen=True, slots=True)
class ParameterTexts:
    """What the description of one tool says about its parameters."""

    texts: Mapping[str, str]
    """Name → the text about it; only names that are described."""
    shown: Mapping[str, str]
    """Name → a value that an example call or a literal gives it."""


def read_parameter_texts(description: str, names: Sequence[str]) -> ParameterTexts:
    """Return what ``description`` says about the parameters ``names``."""
    whole = description[:_LONGEST]
    known = [name for name in dict.fromkeys(names) if name and name in whole]
    if not known:
        return ParameterTexts({}, {})
    prose = remove_literals(whole)
    texts: dict[str, str] = {}
    for name, text in (*_find_entries(prose, known), *_find_sentences(prose, known)):
        if _says_more_than_type(text):
            texts.setdefault(name, text)
    shown = {name: value for name in known if (value := _find_shown_value(name, whole))}
    return ParameterTexts(texts, shown)


def remove_literals(text: str) -> str:
    """Return ``text`` without fenced code and without objects as ``{"type": "text"}``.

    The keys and values of an example are not statements about the parameters of the tool.
    """
    kept: list[str] = []
    depth = start = 0
    plain = _FENCE.sub("", text)
    for place, letter in enumerate(plain):
        if letter == "{":
            if depth == 0:
                kept.append(plain[start:place])
                start = place
            depth += 1
        elif letter == "}" and depth:
            depth -= 1
            braces = plain[start : place + 1]
            if depth == 0:
                # "{string}" is a type or a placeholder, no object.
                kept.append("" if re.search(r"[:\"'=]", braces) else braces)
                start = place + 1
    # An object that is not closed, as in a cut text, ends with the text.
    return "".join(kept) + ("" if depth else plain[start:])


def _find_entries(text: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each name that begins a line, with the text behind it and on the deeper lines below."""
    entry = _compile_entry(names)
    lines = _split_heading_lines(text, names).expandtabs(4).splitlines()
    is_input, indent = True, len(text)
    for number, line in enumerate(lines):
        found = entry.match(line)
        if found is None or (found["separator"] is None and not _goes_deeper(lines, number, found)):
            # "Example: …" below an entry belongs to it.
            if _indent_of(line) > indent:
                continue
            if _NOT_INPUT.match(line):
                is_input = False
            elif _INPUT.match(line) or _TITLE.match(line):
                is_input = True
            continue
        if not is_input and found["tag"] is None:
            continue
        indent = len(found["indent"])
        below = _lines_below(lines, number, indent, entry)
        said = " ".join([found["text"] or "", *below]).strip()
        for name in re.findall(r"[\w.-]+", found["names"]):
            if name in names:
                yield name, said


def _indent_of(line: str) -> int:
    return len(line) - len(line.lstrip())


def _compile_entry(names: Sequence[str]) -> re.Pattern[str]:
    one = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    marked = rf"{_QUOTES}(?<![\w.-])(?:{one})(?![\w-]){_QUOTES}"
    other = rf"{_QUOTES}[\w.-]*\w{_QUOTES}"
    return re.compile(
        r"(?P<indent>[ ]*)(?:(?:[-*+•>|]|\d+[.)]|#{1,6}|<\w+\s+name=)[ ]*)*"
        r"(?P<tag>[:@]\w+(?:[ ]+\{[^}]*\}|[ ]+[\w\[\], |.]+(?=[ ]))?[ ]+\[?)?"
        rf"(?P<names>{marked}(?:\s*(?:,|/|&|,?\s*\b(?:and|or)\b)\s*{other})*)\??\]?"
        r"(?:\s*(?:\((?:[^()]|\([^()]*\))*\)|\[(?:[^\[\]]|\[[^\[\]]*\])*\]|\{[^{}]*\}|<[^<>]*>)"
        r"[`*]{0,3}){0,2}\s*"
        r"(?:(?P<separator>::?|=|[-–—]{1,2}|[|→>])[`*]{0,3}\s*(?P<text>.*)"
        r"|(?(tag)(?<=[ ])(?P<after_tag>.+)|))?$"
    )


def _split_heading_lines(text: str, names: Sequence[str]) -> str:
    """Put each argument of "Args: city: Where; days: How many" on a line of its own."""
    one = "|".join(re.escape(name) for name in names)
    begins = re.compile(
        rf"[ \t,;.]+(?=[`*]{{0,2}}(?:{one})[`*]{{0,2}}[ ]*(?:\([^()]*\))?[ ]*[:–—-] )"
    )

    def split_line(line: str) -> str:
        head = _ON_HEADING_LINE.search(line)
        # A parameter may itself be called "args".
        if head is None or head.group().strip(" \t:") in names:
            return line
        return f"{line[: head.end()]}\n  " + begins.sub("\n  ", line[head.end() :])

    return "\n".join(map(split_line, text.splitlines()))


def _goes_deeper(lines: Sequence[str], number: int, found: re.Match[str]) -> bool:
    """Whether the text of an entry without a separator is on the lines below, or behind a tag."""
    if found["tag"] is not None and found["after_tag"]:
        return True
    below = next((line for line in lines[number + 1 :] if line.strip()), "")
    is_title = found.group(0).lstrip().startswith("#")
    return is_title or _indent_of(below) > len(found["indent"])


def _lines_below(
    lines: Sequence[str], number: int, indent: int, entry: re.Pattern[str]
) -> Iterator[str]:
    is_title = lines[number].lstrip().startswith("#")
    for line in lines[number + 1 :]:
        deeper = _indent_of(line) > indent
        if line.strip() and (not (deeper or is_title) or entry.match(line)):
            return
        if is_title and line.startswith("#"):
            return
        yield line.strip()


def _find_sentences(text: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield sentences about a name: its own sentence, or one around a name that is no word."""
    for name in names:
        word = re.escape(name)
        is_word = name.isalpha() and name.islower()
        kind = r"(?:parameter|argument|option|field|flag)"
        plain = rf"(?<!\w){word}(?!\w)"
        # A word as "limit" is a name only in quotes, or where it is called one.
        subject = rf"(?:[`'\"]{word}[`'\"]|{plain}(?=\s+{kind}\b{'' if is_word else '|'}))[`'\"]?"
        for found in re.finditer(
            rf"(?:^|[.;:!?\n(]\s*|\n\s*[-*•]\s+|\b(?:the|with|if|use|set|pass|provide|via|using|by)\s+)"
            rf"{subject}(?:\s+{kind})?\s+(?P<rest>[a-z][^.;\n]{{9,}})",
            text,
            re.IGNORECASE,
        ):
            # "limit and offset" is a list of names.
            if not re.match(r"(?:and|or)\b", found["rest"]):
                yield name, found.group(0)
        for found in re.finditer(
            rf"\b(?:valid|allowed|possible|supported) (?:values (?:for|of) )?[`'\"]?{word}[`'\"]?"
            r"(?: values)?(?: are)?:? \S[^\n]+",
            text,
            re.IGNORECASE,
        ):
            yield name, found.group(0)
        # A call that is told, with its purpose, as in "pass reveal=true when you need them".
        for found in re.finditer(
            rf"\b(?:pass|use|set|give|with)\s+`?{word}`?\s*[:=]\s*\w+`?\s+(?:to|when|if|for|on)\s[^.;\n]+",
            text,
            re.IGNORECASE,
        ):
            yield name, found.group(0)
        around = rf"`{word}`" if is_word else plain
        for found in re.finditer(rf"[^.;\n{{}}=]*{around}(?!\s*[:=])[^.;\n{{}}=]*", text):
            # A list of names says nothing: "Optional: filter, next_token, max_pages".
            said = re.sub(r"`[^`]*`|\w*_\w*|[a-z]+[A-Z]\w*|\b\w+(?=,)", "", found.group())
            if len(split_words(said)) >= _FEWEST_WORDS and not _LISTS_NAMES.match(found.group()):
                yield name, found.group()


def _says_more_than_type(text: str) -> bool:
    return any(word not in _TYPE_WORDS for word in split_words(text))


def _find_shown_value(name: str, text: str) -> str | None:
    """Return a value that an example gives to ``name``: ``"id": "A-1"``, ``get(id='A-1')``."""
    given = (
        rf"(?<![\w.-])['\"`]?{re.escape(name)}['\"`]?\s*[:=]\s*"
        r"\\?['\"](?P<value>[^'\"\n]{1,300})['\"]"
    )
    for found in re.finditer(given, text):
        has_letters = any(letter.isalnum() for letter in found["value"])
        if has_letters and _PLACEHOLDERS.isdisjoint(split_words(found["value"])):
            return found["value"]
    return None
