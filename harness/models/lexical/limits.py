"""Arguments that the baseline cannot fill: it copies words of the prompt and invents nothing."""

from __future__ import annotations

from harness.models.tool_text.parameters import Param
from harness.models.tool_text.terms import extract_terms

_CODE = frozenset(
    extract_terms("code script javascript python function program source regex manifest yaml")
)
_SUMS = frozenset(extract_terms("expression formula equation calculation"))


def beyond_filling(param: Param) -> str | None:
    """Return the kind of text that ``param`` needs, such as SQL; ``None`` if any words will do."""
    if (
        param.kind == "array"
        and param.items is not None
        and param.items.kind in ("object", "array")
    ):
        return "build lists of objects"
    if param.kind == "object":
        return "build objects"
    if param.kind not in ("string", "any") or param.choices:
        return None
    # Also from the description: parameters named `query` often take SQL.
    if {"sql"} & (param.terms | param.name_words):
        return "write SQL"
    if param.name_terms & _CODE:
        return "write code"
    return "work out what is to be calculated" if param.name_terms & _SUMS else None
