"""Arguments that the baseline cannot fill: it copies words of the prompt and invents nothing.

A reason is told to people, so it has to be true: where name and description leave it open what a
parameter takes, there is none. ``code`` may be a postal code, ``expression`` a cron expression.
"""

from __future__ import annotations

import re

from harness.models.tool_text.parameters import Param
from harness.models.tool_text.terms import split_words, word_set
from harness.types import Tool

_LONGEST_TEXT = 2_000
_SQL_TEXT = word_set("sql query statement command script text string code expression")
_CODE = word_set("javascript typescript python bash shell js regex regexp")
_CODE_TEXT = word_set("code script snippet source program function body text expression")
_RUNS = re.compile(
    r"\b(?:source code|(?:javascript|typescript|python|java|bash|shell|ruby|rust) "
    r"(?:code|script|function|program|expression|snippet|source)"
    r"|(?:code|script|program|function|snippet) (?:to|that) (?:be )?(?:run|execute|evaluate|format"
    r"|lint|compile|test|check)\w*|regular expression|regex)\b",
    re.IGNORECASE,
)
_SUMS = word_set("expression formula equation calculation calculations sum math")
_CALCULATES = re.compile(r"\b(?:calculat|arithmetic|mathematic|math\b|evaluate\b)", re.IGNORECASE)
_SQL = re.compile(r"(?<!not )(?<!no )\bSQL (?:query|statement|command|to|text|script)|in SQL\b")


def beyond_filling(param: Param, tool: Tool) -> str | None:
    """Return the kind of text that ``param`` of ``tool`` needs, such as SQL, or ``None``."""
    if param.kind == "array" and param.items and param.items.kind in ("object", "array"):
        return "build lists of objects"
    if param.kind == "object":
        return "build objects"
    if param.kind not in ("string", "any") or param.choices:
        return None
    # What the tool does says what a parameter without a description takes.
    about = param.description or f"{' '.join(split_words(tool.name))}: {tool.description}"
    return _find_language(set(split_words(param.name)), about[:_LONGEST_TEXT])


def _find_language(name: set[str], about: str) -> str | None:
    """Return the kind of text, from all words of a parameter's name and from its description."""
    if name <= _SQL_TEXT and ("sql" in name or _SQL.search(about)):
        return "write SQL"
    if name <= _CODE | _CODE_TEXT and (name & _CODE or _RUNS.search(about)):
        return "write code"
    sums = name <= _SUMS and _CALCULATES.search(about)
    return "work out what is to be calculated" if sums else None
