"""``matrix`` and ``parameters``: many tests made of one, with values for ``${{ name }}``.

A placeholder names a parameter and nothing else: there are no expressions. A placeholder that is
the whole value keeps the parameter's type; within a text it becomes text.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from harness.base import (
    DocumentReader,
    InvalidValue,
    Layout,
    Steps,
    Values,
    array_of,
    build_field,
    canonical_json,
    describe_value,
    did_you_mean,
    parse_list,
    parse_mapping,
)
from harness.types import JsonObject

Row: TypeAlias = Mapping[str, Any]
"""One value for each parameter."""

MAX_CASES = 10_000
"""Most cases that the parameters of one suite may make."""
MAX_COPIED = 5_000_000
"""Most values and characters that placeholders may copy: a long prompt times many rows is a
mistake."""

FILLED = (
    "description",
    "prompt",
    "wordings",
    "ingest",
    "ingest_prompt",
    "turns",
    "user",
    "user_context",
    "tool",
    "expect",
    "assertions",
    "expected_answer",
    "call",
    "setup",
    "teardown",
    "tags",
    "metadata",
)
"""The keys of a test under which placeholders are filled in."""

_PLACEHOLDER = re.compile(r"(\$?)\$\{\{([^{}\n]*)\}\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MAX_SHOWN = 40


# ── Values of the two keys ───────────────────────────────────────────────────────────


def _parse_matrix(value: Any) -> dict[str, list[Any]]:
    if not parse_mapping(value):
        raise InvalidValue("there are no parameters", meant="Write 'name: [value, value]'.")
    for name, values in value.items():
        _check_name(name, (name,))
        if not isinstance(values, list) or not values:
            there = "an empty list" if values == [] else describe_value(values)
            message = f"expected a list of at least one value, found {there}"
            raise InvalidValue(message, path=(name,))
        _check_distinct(values, (name,))
    return parse_mapping(value)


def _parse_rows(value: Any) -> list[Row]:
    if not parse_list(value):
        raise InvalidValue("there are no rows", meant="Write '- {name: value}'.")
    names = dict.fromkeys(name for row in value if isinstance(row, dict) for name in row)
    for index, row in enumerate(value):
        if not isinstance(row, dict) or not row:
            raise InvalidValue(
                f"expected a mapping of parameters to values, found {describe_value(row)}",
                path=(index,),
            )
        for name in names:
            _check_name(name, (index, name))
            if name not in row:
                raise InvalidValue(f"this row lacks {name!r}, others have", path=(index,))
    _check_distinct(value, ())
    return parse_list(value)


def _check_name(name: str, path: Steps) -> None:
    if not _NAME.fullmatch(name):
        message = f"{name!r} is not a valid name of a parameter"
        raise InvalidValue(message, path=path, meant="Use letters, digits and '_'.")


def _check_distinct(values: Sequence[Any], path: Steps) -> None:
    first: dict[str, int] = {}
    for index, value in enumerate(values):
        # As JSON: for Python, 1 and True are equal.
        earlier = first.setdefault(canonical_json(value), index)
        if earlier != index:
            message = f"this is the same as number {earlier + 1}"
            raise InvalidValue(message, path=(*path, index), meant="Remove one.")


MATRIX = build_field(
    "Parameters and their values: one test for each combination, with ${{ name }} filled in.",
    {
        "type": "object",
        "minProperties": 1,
        "propertyNames": {"pattern": f"^{_NAME.pattern}$"},
        "additionalProperties": {"type": "array", "minItems": 1},
    },
    _parse_matrix,
)
"""``matrix: {city: [Paris, Oslo], unit: [C, F]}``."""
PARAMETERS = build_field(
    "Rows of parameters: one test for each row, with ${{ name }} filled in.",
    array_of(
        {"type": "object", "minProperties": 1, "propertyNames": {"pattern": f"^{_NAME.pattern}$"}},
        minItems=1,
    ),
    _parse_rows,
)
"""``parameters: [{city: Paris, unit: C}, {city: Oslo, unit: C}]``."""


# ── Placeholders ─────────────────────────────────────────────────────────────────────────────


class _Placeholder(NamedTuple):
    """One placeholder."""

    path: Steps
    name: str
    whole: bool
    """Whether it is the whole text."""
    in_key: bool


def _find_placeholders(value: Any, path: Steps) -> Iterator[_Placeholder]:
    if isinstance(value, str):
        yield from _find_in_text(value, path, in_key=False)
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _find_in_text(key, (*path, key), in_key=True)
            yield from _find_placeholders(part, (*path, key))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _find_placeholders(part, (*path, index))


def _find_in_text(text: str, path: Steps, *, in_key: bool) -> Iterator[_Placeholder]:
    for match in _PLACEHOLDER.finditer(text):
        # A doubled dollar keeps the placeholder as text.
        if not match[1]:
            yield _Placeholder(path, match[2].strip(), match.group() == text, in_key)


class ParameterExpander:
    """Makes the tests of a suite from those with parameters."""

    def __init__(self, reading: DocumentReader, test: Layout, parameters: Layout) -> None:
        """``reading`` collects problems.

        ``test`` and ``parameters`` are layouts of a test and the keys.
        """
        self._reading = reading
        # Settings such as limits are the same for all rows, so that these can be compared.
        self._fixed = test.fields.keys() - set(FILLED) - parameters.fields.keys()
        self._layout = parameters
        self._cases = 0
        self._copied = 0

    def expand_test(
        self, path: Steps, test: JsonObject, noun: str
    ) -> Iterator[tuple[str, JsonObject]]:
        """Yield ``(suffix of the name, test)`` for each row of the test at ``path``.

        Nothing is yielded after a problem.

        A test without parameters is yielded unchanged: a placeholder in it is ordinary text.
        """
        given = {key: test[key] for key in self._layout.fields if test.get(key) is not None}
        if not given:
            yield "", test
            return
        # Checked once for the test: each mistake would come again with every row.
        before = len(self._reading.problems)
        values = self._reading.read_mapping(path, given, self._layout, noun)
        rest = {key: part for key, part in test.items() if key not in self._layout.fields}
        if len(given) > 1:
            message = f"{noun} has both 'matrix' and 'parameters'."
            self._reading.add_problem((*path, "parameters"), message, "Keep one of them.")
        elif values:
            self._check_parameters(path, rest, values)
        if len(self._reading.problems) > before:
            return
        names: Counter[str] = Counter()
        for row in _iterate_rows(values):
            end = ",".join(f"{name}={_format_name_part(value)}" for name, value in row.items())
            # Long values are cut, and may then be alike.
            names[end] += 1
            number = f",#{names[end]}" if names[end] > 1 else ""
            try:
                filled = {
                    key: part if key in self._fixed else self._fill_value(part, row)
                    for key, part in rest.items()
                }
            except InvalidValue as error:
                self._reading.add_problem(path, error.message, error.meant)
                return
            yield f"[{end}{number}]", filled

    def _check_parameters(self, path: Steps, rest: JsonObject, values: Values) -> None:
        """Report unknown and unused parameters, and placeholders that are not filled in."""
        key, given = next(iter(values.items()))
        count = math.prod(len(each) for each in given.values()) if key == "matrix" else len(given)
        # Counted before any is made: a matrix grows by multiplication.
        self._cases += count
        if self._cases > MAX_CASES:
            message = (
                f"these parameters make {count:,} tests, and those of the suite more than "
                f"{MAX_CASES:,}."
            )
            self._reading.add_problem((*path, key), message, "Leave out redundant combinations.")
            return
        kinds = _explain_unusable(key, given)
        used = set()
        for use in _find_placeholders(rest, path):
            used.add(use.name)
            self._check_use(use, str(use.path[len(path)]), kinds)
        for name in kinds.keys() - used:
            place = (*path, key, name) if key == "matrix" else (*path, key, 0, name)
            message = f"the parameter {name!r} is not used."
            meant = f"Use ${{{{ {name} }}}}, or remove it."
            self._reading.add_key_problem(place, message, meant)

    def _check_use(self, use: _Placeholder, key: str, kinds: Mapping[str, str]) -> None:
        if key in self._fixed:
            meant = f"They are filled in under {', '.join(FILLED)}."
            if key == "name":
                meant = "The parameters are added to the tests' names automatically."
            self._reading.add_problem(
                use.path, f"placeholders are not filled in under {key!r}.", meant
            )
        elif use.in_key:
            message = "placeholders are not filled in in keys."
            self._reading.add_problem(use.path, message, "Give the whole mapping as a parameter.")
        elif use.name not in kinds:
            meant = did_you_mean(use.name, kinds) or (
                f"Known: {', '.join(kinds)}. For the literal text write $${{{{ … }}}}."
            )
            self._reading.add_problem(use.path, f"there is no parameter {use.name!r}.", meant)
        elif kinds[use.name] and not use.whole:
            message = (
                f"the parameter {use.name!r} is {kinds[use.name]}: it cannot be used within a text."
            )
            self._reading.add_problem(use.path, message, "Make the placeholder the whole value.")

    def _fill_value(self, value: Any, row: Row) -> Any:
        """Return a copy of ``value`` with every placeholder replaced."""
        self._count_tests(1)
        if isinstance(value, dict):
            return {key: self._fill_value(part, row) for key, part in value.items()}
        if isinstance(value, list):
            return [self._fill_value(part, row) for part in value]
        return self._fill_text(value, row) if isinstance(value, str) and "${{" in value else value

    def _fill_text(self, text: str, row: Row) -> Any:
        whole = _PLACEHOLDER.fullmatch(text)
        if whole and not whole[1]:
            # As it is, not filled in again: a value may contain the text of a placeholder.
            return row[whole[2].strip()]
        filled = _PLACEHOLDER.sub(
            lambda part: part[0][1:] if part[1] else _format_value(row[part[2].strip()]), text
        )
        self._count_tests(len(filled))
        return filled

    def _count_tests(self, amount: int) -> None:
        self._copied += amount
        # Raised and not collected: to go on is what must not happen.
        if self._copied > MAX_COPIED:
            message = "the tests made by the parameters of this suite are too large."
            raise InvalidValue(message, meant="Use fewer rows, or shorter texts.")


def _iterate_rows(values: Values) -> Iterator[Row]:
    yield from values.get("parameters", ())
    if matrix := values.get("matrix"):
        for combination in itertools.product(*matrix.values()):
            yield dict(zip(matrix, combination, strict=True))


def _explain_unusable(key: str, given: Any) -> dict[str, str]:
    """Return for each parameter why it cannot be used within a text, or an empty text."""
    each = given if key == "matrix" else {name: [row[name] for row in given] for name in given[0]}
    return {
        name: next((describe_value(one) for one in values if isinstance(one, dict | list)), "")
        for name, values in each.items()
    }


def _format_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _format_name_part(value: Any) -> str:
    """Return a value as part of a name: on one line, and not too long."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    clean = "".join(sign if sign.isprintable() else "�" for sign in " ".join(text.split()))
    return clean if len(clean) <= _MAX_SHOWN else f"{clean[:_MAX_SHOWN]}…"
