"""Searches a value that is valid by a schema and matches a pattern.

Candidates are built from what both name, and judged by the real validator and the real matcher, so
whatever is found is a witness. That there is none is said only where the candidates are complete:
conditions that are left out while building can only make more values possible.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from harness.judging.checks.witness.patterns import (
    ANY,
    allows_absence,
    inner,
    is_plain,
    names_in,
    somewhere,
    types_of_pattern,
    unwrapped,
)
from harness.judging.checks.witness.scalars import (
    has_expressions,
    is_fractional,
    lengths,
    listed,
    numbers,
    texts,
)
from harness.judging.checks.witness.schemas import (
    TYPES,
    Branch,
    Schemas,
    Undecided,
    is_listed,
    types_of,
)
from harness.judging.matching.matchers import is_matcher, matches
from harness.types import JsonPath

_ENOUGH = 6  # values of one part, of which a list may need different ones
_MOST_PARTS = 3_000
_MOST_ITEMS = 40
_MOST_PLACES = 8  # of an element that may stand anywhere
_OPEN = ("patternProperties", "unevaluatedProperties", "dependentSchemas", "$dynamicRef")


class Found(NamedTuple):
    """The result of a search."""

    values: Sequence[Any]
    """Some witnesses."""
    sure: bool = True
    """Whether there is certainly none if none was found."""


@dataclass(frozen=True, slots=True)
class Blame:
    """A part for which there is no value."""

    path: JsonPath
    wants: Sequence[Any]
    schemas: Sequence[Any]
    known: Iterable[str] | None = None
    """The names beside it, if its own is not among those that are allowed."""


class Search:
    """Searches in the schema of one tool."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Take ``schema`` apart.

        Raises:
            Undecided: it cannot be.
        """
        self.schemas = Schemas(schema)
        self.blamed: list[Blame] = []
        """Parts without a value, inner ones first."""
        self._parts = 0

    def find(self, wants: Sequence[Any], schemas: Sequence[Any], path: JsonPath = ()) -> Found:
        """Return values that match all ``wants`` and are valid by all ``schemas``.

        Raises:
            Undecided: it takes too long, or a value cannot be validated.
        """
        self._parts += 1
        if self._parts > _MOST_PARTS:
            raise Undecided
        for place, want in enumerate(wants):
            options = unwrapped(want)
            if options != [[want]]:
                rest = [*wants[:place], *wants[place + 1 :]]
                found = _either(self.find([*one, *rest], schemas, path) for one in options)
                break
        else:
            found = self._find(wants, schemas, path)
        if not found.values and found.sure:
            self.blamed.append(Blame(path, wants, schemas))
        return found

    def _find(self, wants: Sequence[Any], schemas: Sequence[Any], path: JsonPath) -> Found:
        local = list(self.schemas.local(schemas))
        every = self.schemas.branches(schemas)
        branches = [one for one in every if not is_listed(one)]
        asked = TYPES.intersection(*map(types_of_pattern, wants))
        for want in wants:
            exact = is_matcher(want) and "$equals" in want
            if exact or is_plain(want):
                fits = self._fitting([want["$equals"] if exact else want], wants, schemas)
                nested = fits.values and isinstance(want, Mapping | list) and branches == every
                return self._build(wants, schemas, path, branches) if nested and not exact else fits
        kinds = frozenset[str]().union(*map(types_of, branches)) & asked
        candidates = [*listed(wants, local), None, True, False]
        candidates += numbers(wants, local) if "number" in kinds else []
        candidates += texts(wants, local) if "string" in kinds else []
        found = self._fitting(candidates, wants, schemas)
        if found.values:
            return found
        sure = not ("string" in kinds and has_expressions(wants, local))
        sure = sure and not ("number" in kinds and is_fractional(local))
        built = self._build(wants, schemas, path, branches)
        return Found(built.values, built.sure and sure)

    def _build(
        self, wants: Sequence[Any], schemas: Sequence[Any], path: JsonPath, branches: list[Branch]
    ) -> Found:
        asked = TYPES.intersection(*map(types_of_pattern, wants))
        builders = {"object": self._object, "array": self._array}
        return _either(
            build(wants, schemas, path, branch)
            for branch in branches
            for kind, build in builders.items()
            if kind in types_of(branch) & asked
        )

    def _fitting(
        self, candidates: Iterable[Any], wants: Sequence[Any], schemas: Sequence[Any]
    ) -> Found:
        found: list[Any] = []
        for value in candidates:
            if all(matches(want, value) for want in wants) and not self.schemas.errors(
                value, schemas
            ):
                found.append(value)
                if len(found) == _ENOUGH:
                    break
        return Found(found)

    def _built(self, value: Any, wants: Sequence[Any], schemas: Sequence[Any]) -> Found:
        # What was left out while building may be what this value lacks.
        return Found(self._fitting([value], wants, schemas).values, sure=False)

    # ── Objects ──────────────────────────────────────────────────────────────────────────────

    def _object(
        self, wants: Sequence[Any], schemas: Sequence[Any], path: JsonPath, branch: Branch
    ) -> Found:
        local = list(self.schemas.local(schemas))
        known = dict.fromkeys(
            name
            for one in local
            for word in ("properties", "required")
            for name in (one[word] if isinstance(one.get(word), Mapping | list) else ())
        )
        # As in all checks of names: a schema that names some means no others.
        closed = known and not any(
            word in one or one.get("additionalProperties", False) is not False
            for one in local
            for word in _OPEN
        )
        required = {
            name: None
            for one in branch
            if isinstance(one.get("required"), list)
            for name in one["required"]
        }
        value: dict[str, Any] = {}
        for name in {**dict.fromkeys(key for want in wants for key in names_in(want)), **required}:
            asked = [part for want in wants for part in inner(want, name)]
            if name not in required and allows_absence(asked):
                continue
            inside, parts = (*path, name), _of_property(branch, name)
            if name not in known and (closed or False in parts):
                self.blamed.append(Blame(inside, asked, [False], known))
                return Found(())
            found = self.find(asked or [ANY], parts, inside)
            if not found.values:
                return found
            value[name] = found.values[0]
        built = self._built(value, wants, schemas)
        # A number of properties may be asked for.
        for name in (*known, *(() if closed else map(str, range(max(lengths(wants, branch)))))):
            if built.values or len(value) >= _MOST_ITEMS:
                break
            found = self.find([ANY], _of_property(branch, name), (*path, name))
            if name not in value and found.values:
                value[name] = found.values[0]
                built = self._built(value, wants, schemas)
        return built

    # ── Lists ────────────────────────────────────────────────────────────────────────────────

    def _array(
        self, wants: Sequence[Any], schemas: Sequence[Any], path: JsonPath, branch: Branch
    ) -> Found:
        spots = [part for want in wants for part in somewhere(want)]
        sizes = {len(want) for want in wants if isinstance(want, list)} or {
            *lengths(wants, branch),
            *(len(_prefix(one)) + more for one in branch for more in (0, 1)),
            len(spots),
        }
        # Beyond the first items that have schemas of their own, all places are alike.
        alike = not any(
            isinstance(one, list) or (is_matcher(one) and "$path" in one) for one in wants
        )
        places = max(len(_prefix(one)) for one in [*branch, {}]) + 1 if alike else _MOST_PLACES
        tried: list[Found] = []
        for size in sorted(sizes):
            if not _allows(size, wants, branch) or (spots and not size):
                continue
            if size > _MOST_ITEMS:
                tried.append(Found((), sure=False))
                break
            for place in range(min(size, places) if spots else 1):
                at = [(place + number) % size for number in range(len(spots))]
                found = self._list(
                    wants, schemas, path, branch, size, list(zip(at, spots, strict=True))
                )
                if found.values:
                    return found
                tried.append(found)
        several = len(spots) > 1 or (spots and not alike and max(sizes) > places)
        return Found((), sure=all(one.sure for one in tried) and not several)

    def _list(
        self,
        wants: Sequence[Any],
        schemas: Sequence[Any],
        path: JsonPath,
        branch: Branch,
        size: int,
        spots: Sequence[tuple[int, Any]],
    ) -> Found:
        value: list[Any] = []
        for place in range(size):
            asked = [part for want in wants for part in inner(want, place, size)]
            asked += [part for at, part in spots if at == place]
            items = [part for one in branch for part in _of_item(one, place)]
            found = self.find(asked or [ANY], items, (*path, place))
            if not found.values:
                return found
            value.append(next((one for one in found.values if one not in value), found.values[0]))
        return self._built(value, wants, schemas)


def _either(options: Iterable[Found]) -> Found:
    sure = True
    for found in options:
        if found.values:
            return found
        sure = sure and found.sure
    return Found((), sure)


def _of_property(branch: Branch, name: str) -> list[Any]:
    found = []
    for one in branch:
        if name in one.get("properties", ()):
            found.append(one["properties"][name])
        elif "patternProperties" not in one:
            found.append(one.get("additionalProperties", True))
    return found


def _prefix(schema: Mapping[str, Any]) -> Sequence[Any]:
    items = schema.get("items")
    prefix: Sequence[Any] = items if isinstance(items, list) else schema.get("prefixItems", [])
    return prefix


def _of_item(schema: Mapping[str, Any], place: int) -> Sequence[Any]:
    prefix = _prefix(schema)
    if place < len(prefix):
        return [prefix[place]]
    rest = "additionalItems" if isinstance(schema.get("items"), list) else "items"
    return [schema[rest]] if rest in schema else []


def _allows(size: int, wants: Sequence[Any], branch: Branch) -> bool:
    """Whether a list may be that long."""
    least = max([0, *(one.get("minItems", 0) for one in branch)])
    most = min([math.inf, *(one.get("maxItems", math.inf) for one in branch)])
    asked = [want["$length"] for want in wants if is_matcher(want) and "$length" in want]
    return bool(least <= size <= most) and all(matches(one, size) for one in asked)
