"""Conditions of policies: the part of CEL that says who may do what.

Texts, numbers, booleans, ``null`` and lists; ``user.role`` and ``has(user.role)``; ``==``, ``!=``,
``<``, ``<=``, ``>``, ``>=``, ``in``; ``!``, ``&&``, ``||`` and ``? :``. All of it means what CEL's
specification says; the tests compare it with a complete CEL. Everything else of CEL (arithmetic,
functions, macros, maps) is refused when a policy file is read.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeAlias

Evaluate: TypeAlias = Callable[[Mapping[str, Any]], Any]
"""Returns the value of an expression, given its variables; raises `NoValue` if it has none."""

_TOKEN = re.compile(
    r"""\s*(?:(?P<number>\d+(?:\.\d+(?:[eE][+-]?\d+)?)?(?!\w))
          |(?P<text>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")
          |(?P<name>[A-Za-z_]\w*(?!['"]))
          |(?P<sign>&&|\|\||[=!<>]=|[!<>?:.,()\[\]-])
          |(?P<end>\Z))""",
    re.VERBOSE | re.ASCII,
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_ESCAPED = {
    "\\": "\\", "'": "'", '"': '"', "`": "`", "?": "?",
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v",
}  # fmt: skip
_WORDS = {"true": True, "false": False, "null": None}
_ORDERED: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_RELATIONS = ("==", "!=", "in", *_ORDERED)


class NoValue(Exception):
    """An expression asks for what is not there, or for what its operator does not do."""


def parse_condition(source: str) -> tuple[Evaluate, frozenset[str]]:
    """Return what evaluates ``source``, and the variables that it mentions.

    Raises:
        ValueError: it is not CEL, or more of CEL than is supported; the text says where.
    """
    parser = _Parser(source)
    try:
        evaluate = parser.parse_all()
    except RecursionError as error:
        raise ValueError("it nests too deeply") from error
    return evaluate, frozenset(parser.names)


class _Parser:
    """Reads one expression from left to right, one method a rank of operators."""

    def __init__(self, source: str) -> None:
        self.names: set[str] = set()
        self._source = source
        self._kind = self._token = ""
        self._start = self._next = 0
        self._advance()

    def parse_all(self) -> Evaluate:
        value = self._parse_choice()
        if self._kind != "end":
            self._refuse()
        return value

    def _advance(self) -> str:
        """Return the token at hand, and read the one after it."""
        token = self._token
        match = _TOKEN.match(self._source, self._next)
        if match is None:
            self._start = self._next
            self._refuse()
        self._kind = str(match.lastgroup)
        self._token = match[self._kind]
        self._start, self._next = match.start(self._kind), match.end()
        return token

    def _take(self, *signs: str) -> str:
        """Return the token at hand and go on if it is one of ``signs``; else nothing."""
        return self._advance() if self._kind != "text" and self._token in signs else ""

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            self._refuse()

    def _refuse(self) -> NoReturn:
        rest = self._source[self._start :].strip()
        where = f"at '{rest[:30]}'" if rest else "at its end"
        raise ValueError(
            f"{where}: a condition has texts, numbers, true, false, null, lists, variables and "
            "their members, has(), ==, !=, <, <=, >, >=, in, !, &&, || and ? :"
        )

    def _parse_choice(self) -> Evaluate:
        asked = self._parse_either()
        if not self._take("?"):
            return asked
        yes = self._parse_either()
        self._expect(":")
        no = self._parse_choice()
        return lambda variables: (yes if _is_true(asked(variables)) else no)(variables)

    def _parse_either(self) -> Evaluate:
        value = self._parse_both()
        while self._take("||"):
            value = _join(value, self._parse_both(), decides=True)
        return value

    def _parse_both(self) -> Evaluate:
        value = self._parse_relation()
        while self._take("&&"):
            value = _join(value, self._parse_relation(), decides=False)
        return value

    def _parse_relation(self) -> Evaluate:
        value = self._parse_unary()
        while sign := self._take(*_RELATIONS):
            value = _relate(sign, value, self._parse_unary())
        return value

    def _parse_unary(self) -> Evaluate:
        negations = 0
        while self._take("!"):
            negations += 1
        if negations:
            value = self._parse_unary()
            # Two cancel each other out, whatever the value, as in the grammar of CEL.
            return (lambda variables: not _is_true(value(variables))) if negations % 2 else value
        if self._take("-"):
            if self._kind != "number":
                self._refuse()
            number = -_read_number(self._advance())
            return lambda _: number
        return self._parse_member()

    def _parse_member(self) -> Evaluate:
        value = self._parse_primary()
        while self._take("."):
            value = _select(value, self._parse_name())
        return value

    def _parse_name(self) -> str:
        if self._kind != "name" or self._token in (*_WORDS, "in"):
            self._refuse()
        return self._advance()

    def _parse_primary(self) -> Evaluate:
        if self._kind in {"number", "text"}:
            kind, token = self._kind, self._token
            constant = _read_number(token) if kind == "number" else self._read_text(token)
            self._advance()
            return lambda _: constant
        if self._take("("):
            value = self._parse_choice()
            self._expect(")")
            return value
        if self._take("["):
            return self._parse_list()
        if self._kind == "name" and self._token in _WORDS:
            word = _WORDS[self._advance()]
            return lambda _: word
        name = self._parse_name()
        if self._take("("):
            return self._parse_has(name)
        self.names.add(name)
        return lambda variables: _look_up(variables, name)

    def _parse_list(self) -> Evaluate:
        items: list[Evaluate] = []
        while not self._take("]"):
            items.append(self._parse_choice())
            if not self._take(","):
                self._expect("]")
                break
        return lambda variables: [item(variables) for item in items]

    def _parse_has(self, function: str) -> Evaluate:
        if function != "has":
            self._refuse()
        value = self._parse_primary()
        name = ""
        while self._take("."):
            value = _select(value, name) if name else value
            name = self._parse_name()
        if not name:
            self._refuse()
        self._expect(")")
        return lambda variables: name in _require_map(value(variables))

    def _read_text(self, token: str) -> str:
        def replace(match: re.Match[str]) -> str:
            if match[1]:
                return chr(int(match[1], 16))
            return _ESCAPED.get(match[2]) or self._refuse()

        return _ESCAPE.sub(replace, token[1:-1])


def _read_number(token: str) -> int | float:
    return int(token) if token.isdigit() else float(token)


def _look_up(variables: Mapping[str, Any], name: str) -> Any:
    if name not in variables:
        raise NoValue(name)
    return variables[name]


def _require_map(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise NoValue
    return value


def _select(value: Evaluate, name: str) -> Evaluate:
    return lambda variables: _look_up(_require_map(value(variables)), name)


def _is_true(value: Any) -> bool:
    if not isinstance(value, bool):
        raise NoValue
    return value


def _join(left: Evaluate, right: Evaluate, *, decides: bool) -> Evaluate:
    """Return ``left || right`` or ``left && right``: one side that ``decides`` is enough.

    The other side may then have no value at all, whichever of them it is.
    """

    def evaluate(variables: Mapping[str, Any]) -> bool:
        failed = False
        for side in (left, right):
            try:
                if _is_true(side(variables)) is decides:
                    return decides
            except NoValue:
                failed = True
        if failed:
            raise NoValue
        return not decides

    return evaluate


def _relate(sign: str, left: Evaluate, right: Evaluate) -> Evaluate:
    if sign == "==":
        return lambda variables: _equal(left(variables), right(variables))
    if sign == "!=":
        return lambda variables: not _equal(left(variables), right(variables))
    if sign == "in":
        return lambda variables: _contains(right(variables), left(variables))
    compare = _ORDERED[sign]

    def evaluate(variables: Mapping[str, Any]) -> bool:
        one, other = left(variables), right(variables)
        if _kind(one) != _kind(other) or _kind(one) not in {bool, float, str}:
            raise NoValue
        return compare(one, other)

    return evaluate


def _kind(value: Any) -> type:
    """Return the type of ``value``; whole numbers and others are of one, booleans are none."""
    return float if isinstance(value, int | float) and not isinstance(value, bool) else type(value)


def _equal(one: Any, other: Any) -> bool:
    if _kind(one) != _kind(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    return bool(one == other)


def _contains(container: Any, item: Any) -> bool:
    if isinstance(container, list):
        return any(_equal(part, item) for part in container)
    if not isinstance(container, dict) or not isinstance(item, str | int):
        raise NoValue  # null and numbers with a fraction are no keys
    return isinstance(item, str) and item in container
