"""Expectations on calls that no valid call of the tool matches, with what was probably meant."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

from harness.base import canonical_json, did_you_mean
from harness.judging.checks.witness.conditions import ANY, UndecidedError, is_plain
from harness.judging.checks.witness.search import UnsatisfiedPart, WitnessSearch
from harness.judging.matching.json_values import format_value
from harness.judging.matching.matchers import describe_pattern, is_matcher, matches_partly
from harness.types import JsonObject, Tool

_ARGUMENTS = {"$type": "object"}  # even if the schema does not say so
_NOTES = ("description", "title", "default", "examples", "$ref", "$defs", "definitions")


class MismatchReason(NamedTuple):
    """Why no valid call matches."""

    message: str
    meant: str | None


def find_mismatches(tool: Tool, args: JsonObject) -> Sequence[MismatchReason]:
    """Return why no call that is valid by the schema of ``tool`` has such arguments.

    Nothing is returned if there is such a call, or if that cannot be found out.
    """
    try:
        # As texts, which a cache can compare.
        return _find_mismatches(tool.name, canonical_json(tool.input_schema), canonical_json(args))
    except (RecursionError, ValueError):
        return ()


@lru_cache(maxsize=128)  # many cases expect the same call
def _find_mismatches(tool: str, schema: str, args: str) -> Sequence[MismatchReason]:
    pattern = json.loads(args)
    # One by one, so that each argument which is at fault is named.
    parts = [pattern] if is_matcher(pattern) else [{name: pattern[name]} for name in pattern]
    found = [why for part in parts if (why := _find_mismatch(tool, json.loads(schema), part))]
    # Each part may be possible, and all of them together not.
    if not found and len(parts) > 1:
        found = [why for why in [_find_mismatch(tool, json.loads(schema), pattern)] if why]
    return found


def _find_mismatch(tool: str, schema: JsonObject, part: JsonObject) -> MismatchReason | None:
    try:
        search = WitnessSearch(schema)
        found = search.find_values(
            [_allow_further_arguments(part), _ARGUMENTS], [search.schemas.root]
        )
        return _explain_mismatch(tool, part, search) if found.is_impossible else None
    except (UndecidedError, RecursionError, OverflowError, TypeError, ValueError, AttributeError):
        return None  # a schema may be broken in any way, which is told elsewhere


def exclude_each_other(*patterns: JsonObject) -> bool:
    """Whether it is certain that no arguments match all ``patterns``, whatever the tool."""
    return _is_impossible(*map(canonical_json, patterns))


@lru_cache(maxsize=512)
def _is_impossible(*patterns: str) -> bool:
    wants = [_allow_further_arguments(json.loads(pattern)) for pattern in patterns]
    return _has_no_witness([*wants, _ARGUMENTS], {})


def _has_no_witness(wants: Sequence[Any], schema: JsonObject) -> bool:
    try:
        search = WitnessSearch(schema)
        return search.find_values(wants, [search.schemas.root]).is_impossible
    except (UndecidedError, RecursionError, OverflowError):
        return False


def implies_pattern(special: JsonObject, general: JsonObject) -> bool:
    """Whether it is certain that all arguments which match ``special`` match ``general``."""
    if special.keys() == {"$equals"}:
        return matches_partly(general, special["$equals"])
    if special == general or is_matcher(special) or is_matcher(general):
        return special == general
    return all(
        name in special
        and (
            special[name] == part
            # No value matches the special part and not the general one.
            or exclude_each_other({name: special[name]}, {name: {"$not": part}})
        )
        for name, part in general.items()
    )


def allows_nothing(schema: Any) -> bool:
    """Whether it is certain that no value is valid by ``schema``."""
    return _has_no_witness([ANY], schema if isinstance(schema, Mapping) else {"allOf": [schema]})


def _allow_further_arguments(args: JsonObject) -> JsonObject:
    return args if is_matcher(args) else {"$contains": args}


def _explain_mismatch(tool: str, part: JsonObject, search: WitnessSearch) -> MismatchReason:
    deepest = max(len(blame.path) for blame in search.blamed)
    inner = {blame.path: blame for blame in search.blamed if len(blame.path) == deepest}
    # Several parts at the same depth are alternatives, none of which is the one at fault.
    shallow = next(blame for blame in search.blamed if len(blame.path) <= 1)
    blame = next(iter(inner.values())) if len(inner) == 1 else shallow
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in blame.path)
    if blame.known is not None:
        near = did_you_mean(str(blame.path[-1]), blame.known)
        takes = ", ".join(blame.known) or "no arguments"
        message = f"the tool {tool!r} has no argument {place[1:]!r}."
        return MismatchReason(message, near or f"It takes {takes}.")
    stated = list(_find_stated(blame.wants))
    words = [format_value(one) for one in stated] or [
        describe_pattern(want) for want in blame.wants if want is not _ARGUMENTS
    ]
    wanted = " and ".join(words or [describe_pattern(part)])
    demand = "; ".join(search.schemas.find_errors(stated[0], blame.schemas)) if stated else ""
    demand = demand or f"its schema there is {format_value(_describe_schema(blame, search), 160)}"
    where = f"the argument {place[1:]!r} as" if place else "arguments as"
    message = f"no valid call of {tool!r} has {where} {wanted}: {demand}."
    return MismatchReason(message, _suggest_value(blame, search))


def _describe_schema(blame: UnsatisfiedPart, search: WitnessSearch) -> JsonObject:
    """Return what the schema demands, without its notes; what it is in any case comes first."""
    schemas = search.schemas.local_schemas(blame.schemas)
    pairs = [pair for schema in schemas for pair in schema.items() if pair[0] not in _NOTES]
    return dict(sorted(pairs, key=lambda pair: pair[0] != "type"))


def _suggest_value(blame: UnsatisfiedPart, search: WitnessSearch) -> str | None:
    for stated in _find_stated(blame.wants):
        if stated is None and len(blame.path) == 1:
            return "Leave it out; write {$absent: true} if it must not be given."
        for value in _find_similar(stated, blame, search):
            if not search.schemas.find_errors(value, blame.schemas):
                return f"Write {format_value(value)}, as the tool takes {_KINDS[type(value)]}."
    return None


def _find_stated(wants: Sequence[Any]) -> Iterator[Any]:
    """Yield the values that are written in patterns."""
    for want in wants:
        if is_plain(want):
            yield want
        elif is_matcher(want) and want.keys() & {"$iequals", "$equals"}:
            yield next(want[key] for key in ("$equals", "$iequals") if key in want)
        elif is_matcher(want) and isinstance(want.get("$approx"), Mapping):
            yield want["$approx"]["value"]


_KINDS: Mapping[type, str] = {
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


def _find_similar(value: Any, blame: UnsatisfiedPart, search: WitnessSearch) -> Iterator[Any]:
    """Yield values that may be meant by one that the schema refuses."""
    if isinstance(value, str):
        with suppress(ValueError):
            # A quoted `True` means JSON's `true`.
            yield json.loads(value.lower() if value.lower() in ("true", "false") else value)
        listed: Sequence[Any] = _describe_schema(blame, search).get("enum", ())
        yield from (
            one for one in listed if isinstance(one, str) and one.casefold() == value.casefold()
        )
        yield [part.strip() for part in value.split(",")]
    else:
        yield format_value(value)
    yield [value]
    if isinstance(value, list) and len(value) == 1:
        yield value[0]
    if isinstance(value, int | float) and value in (0, 1):
        yield bool(value)
    if isinstance(value, bool):
        yield int(value)
