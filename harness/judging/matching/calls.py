"""Calls: those that a check describes, and which of the made calls it is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from harness.judging.matching.matchers import is_matcher, matches_partly
from harness.types import JsonObject, ToolCall, ToolList, Transcript


def matches_call(call: JsonObject, made: ToolCall) -> bool:
    """Whether ``made`` is a call that ``call`` (``{tool, args}``) describes."""
    return made.tool == call["tool"] and matches_partly(call["args"], made.arguments)


def find_matching_calls(call: JsonObject, transcript: Transcript) -> list[ToolCall]:
    """Return the calls that ``call`` describes, in order."""
    return [made for made in transcript.tool_calls if matches_call(call, made)]


def find_tool_calls(params: JsonObject, transcript: Transcript) -> list[ToolCall]:
    """Return the calls of the tool in ``params``, or all calls if it names none."""
    return [made for made in transcript.tool_calls if params.get("tool") in (None, made.tool)]


def find_forbidden_calls(
    params: JsonObject, calls: Iterable[ToolCall], tools: ToolList
) -> list[ToolCall]:
    """Return those of ``calls`` that a prohibition or limit of ``params`` covers.

    ``params`` may name a tool, also by the name that a joined server gives it, and ``args``.
    """
    tool, arguments = params.get("tool"), params.get("args", {})
    return [
        made
        for made in calls
        # A forbidden tool counts as tried also if the model had not loaded it.
        if (tool is None or tools.is_meant(tool, made.attempted_tool))
        and matches_partly(arguments, made.arguments)
    ]


Scalar: TypeAlias = str | int | float
"""A value that a text can contain; booleans are not included."""


def described_calls(params: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """Yield ``(tool, arguments)`` for every call that the settings of a check describe."""
    if "tool" in params and "args" in params:
        yield params["tool"], params["args"]
    for calls in (params.get("calls"), params.get("expected")):
        for call in calls if isinstance(calls, list | tuple) else ():
            if isinstance(call, Mapping):
                yield from described_calls(call)


def find_named_tools(params: JsonObject) -> Iterator[tuple[str, bool]]:
    """Yield every tool that ``params`` name, and whether it may be absent from the server."""
    source = params.get("source", {})
    if isinstance(source, Mapping) and "tool" in source:
        # `allow_absent` stands beside it in the suite.
        yield from _read_tool({**params, "tool": source["tool"]})
    yield from _read_tool(params)
    for key in ("calls", "expected", "same_state_as"):
        calls = params.get(key)
        for call in calls if isinstance(calls, list | tuple) else ():
            yield from _read_tool(call)


def _read_tool(named: Any) -> Iterator[tuple[str, bool]]:
    if isinstance(named, Mapping) and isinstance(named.get("tool"), str):
        yield named["tool"], named.get("allow_absent") is True


def stated_arguments(pattern: JsonObject) -> JsonObject | None:
    """Return the arguments that a pattern fixes exactly, also under ``$equals``.

    ``None`` if a matcher leaves one of them open.
    """
    if pattern.keys() == {"$equals"} and isinstance(pattern["$equals"], Mapping):
        return dict(pattern["$equals"])
    return None if _has_matcher(pattern) else dict(pattern)


def _has_matcher(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(str(key).startswith("$") or _has_matcher(part) for key, part in value.items())
    return isinstance(value, list | tuple) and any(map(_has_matcher, value))


def plain_values(pattern: Any) -> Iterator[Scalar]:
    """Yield every text and number in a pattern, also those inside matchers."""
    if isinstance(pattern, Mapping):
        # The name of a type is no value that could stand in a text.
        is_type = is_matcher(pattern)
        parts: Iterable[Any] = (
            part for key, part in pattern.items() if not (is_type and key == "$type")
        )
    else:
        parts = pattern if isinstance(pattern, list | tuple) else ()
    for part in parts:
        yield from plain_values(part)
    if isinstance(pattern, str | int | float) and not isinstance(pattern, bool):
        yield pattern


def best_pairs(scores: Sequence[Sequence[float]]) -> list[int | None]:
    """Return the column paired with each row of ``scores``; ``None`` if there are too few columns.

    No other pairing has a higher total. Takes time in proportion to rows × rows × columns (or
    columns × columns × rows where those are fewer).
    """
    if not scores or not scores[0]:
        return [None] * len(scores)
    if len(scores) <= len(scores[0]):
        return list(_assign_columns(scores))
    rows: list[int | None] = [None] * len(scores)
    for column, row in enumerate(_assign_columns(list(zip(*scores, strict=True)))):
        rows[row] = column
    return rows


def _assign_columns(scores: Sequence[Sequence[float]]) -> list[int]:
    """Return a column for every row; there are at least as many columns as rows.

    The Hungarian method with potentials, row by row along shortest augmenting paths (Jonker and
    Volgenant 1987). Inside, rows and columns count from 1; 0 means none.
    """
    count, width = len(scores), len(scores[0])
    row_potential, column_potential = [0.0] * (count + 1), [0.0] * (width + 1)
    row_of = [0] * (width + 1)
    for row in range(1, count + 1):
        # Column 0 stands for the row that is to be placed.
        row_of[0] = row
        distance, before = [float("inf")] * (width + 1), [0] * (width + 1)
        seen: list[bool] = [False] * (width + 1)
        column = 0
        while row_of[column]:
            seen[column] = True
            current, step, nearest = row_of[column], float("inf"), 0
            for other in range(1, width + 1):
                if seen[other]:
                    continue
                reduced = (
                    # The method looks for the lowest cost, so a score is a negative cost.
                    -scores[current - 1][other - 1]
                    - row_potential[current]
                    - column_potential[other]
                )
                if reduced < distance[other]:
                    distance[other], before[other] = reduced, column
                if distance[other] < step:
                    step, nearest = distance[other], other
            for other in range(width + 1):
                if seen[other]:
                    row_potential[row_of[other]] += step
                    column_potential[other] -= step
                else:
                    distance[other] -= step
            column = nearest
        while column:
            row_of[column] = row_of[before[column]]
            column = before[column]
    columns = [0] * count
    for column, row in enumerate(row_of[1:]):
        if row:
            columns[row - 1] = column
    return columns
