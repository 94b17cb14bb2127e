"""Calculations in a text: ``17 * 23``, "144 divided by 12", "19% of 250"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from harness.models.tool_text.terms import extract_terms

_AMOUNT = r"[-−]?\$?\d{1,15}(?:,\d{3}){0,4}(?:\.\d{1,15})?"
_OPERAND = rf"(?:\(\s?){{0,4}}{_AMOUNT}(?:\s?\)){{0,4}}"
_SPELLED = {
    "plus": "+", "minus": "-", "times": "*", "multiplied by": "*", "divided by": "/", ("to the "
        "power of"): "**",
    "raised to the power of": "**", "modulo": "%", "mod": "%",
}  # fmt: skip
_WORDS = "|".join(sorted(_SPELLED, key=len, reverse=True))
_OPERATOR = rf"\s?(?:\*\*|[*×·÷^+])\s?|\s[-−/x]\s|(?<=\d)/(?=\d)|\s(?:{_WORDS})\s"
_FIRST = re.compile(rf"(?<![\w.,/:(-]){_OPERAND}")
_NEXT = re.compile(rf"(?P<operator>{_OPERATOR})(?P<operand>{_OPERAND})", re.IGNORECASE)
_END = re.compile(r"(?![\w/:-]|[.,]\d)")
_HINT = re.compile(
    rf"\d[\s)]{{0,4}}(?:[-−+*×·÷^/x%]|percent|{_WORDS})", re.IGNORECASE
)  # every formula has one of these
_MOST_STEPS = 20  # a longer formula does not occur in a prompt
_SHARE = re.compile(
    rf"(?<![\w.,/:-])(?P<share>{_AMOUNT})\s?(?:%|percent) of (?P<whole>{_AMOUNT})(?![\w/:-]|[.,]\d)"
)
_SIGNS = {"×": "*", "·": "*", "x": "*", "÷": "/", "−": "-", "^": "**"}
NAMES = {
    "+": frozenset(extract_terms("add addition plus sum")),
    "-": frozenset(extract_terms("subtract subtraction minus difference")),
    "*": frozenset(extract_terms("multiply multiplication times product")),
    "/": frozenset(extract_terms("divide division quotient")),
    "**": frozenset(extract_terms("power exponent exponentiate")),
    "%": frozenset(extract_terms("modulo remainder modulus")),
}
"""Operator → the terms that tools name it by."""
_ASKED_FOR_BY = {
    "+": "add",
    "-": "subtract",
    "*": "multiply",
    "/": "divide",
    "**": "power",
    "%": "modulo",
}


class Calculation(NamedTuple):
    """A formula, and its position in the text."""

    expression: str
    """The formula in the notation of programs: ``17 * 23``."""
    start: int
    end: int


def find_calculations(text: str) -> Iterator[Calculation]:
    """Yield the formulas in ``text`` whose brackets are balanced."""
    # Most prompts have no formula, and the searches below are slow.
    if _HINT.search(text) is None:
        return
    for match in _SHARE.finditer(text):
        share, whole = (_normalise(match[name]) for name in ("share", "whole"))
        yield Calculation(f"{share} / 100 * {whole}", match.start(), match.end())
    place = 0
    while first := _FIRST.search(text, place):
        parts, place = [first[0]], first.end()
        while step := _NEXT.match(
            text, place
        ):  # one step after the other: linear time for any text
            parts += [_parse_operator(step["operator"]), step["operand"]]
            place = step.end()
        # Without recursion: the operands have brackets of their own, which only have to add up.
        balanced = text.count("(", first.start(), place) == text.count(")", first.start(), place)
        if 1 < len(parts) <= 1 + 2 * _MOST_STEPS and balanced and _END.match(text, place):
            yield Calculation(_normalise(" ".join(parts)), first.start(), place)


def list_operators(expression: str) -> tuple[str, ...]:
    """Return the operators of a `Calculation.expression`, in order."""
    return tuple(part for part in expression.split() if part in NAMES)


def operation_terms(expression: str) -> tuple[str, ...]:
    """Return the terms by which to find a tool that can compute ``expression``."""
    found = dict.fromkeys(list_operators(expression))
    # Of several operations none can do it alone: a calculator is sought.
    named = [_ASKED_FOR_BY[operator] for operator in found] if len(found) == 1 else []
    return extract_terms(" ".join(["calculate", *named]))


def _normalise(text: str) -> str:
    return re.sub(r"(?<=\d),(?=\d)", "", text).replace("$", "").strip()


def _parse_operator(said: str) -> str:
    said = " ".join(said.lower().split())
    return _SPELLED.get(said) or _SIGNS.get(said, said)
