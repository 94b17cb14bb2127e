"""Checks JSON Schemas of tools within bounds: a server may send anything as a schema.

The work on one schema or value is counted in steps and abandoned beyond a bound: the value is then
*not validated*, which counts against neither the server nor the model. Longer work runs in another
thread, so that the schema of one server does not delay the calls of another, or its own deadline.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypeVar

from anyio.to_thread import run_sync

from harness.base import Budget, OutOfSteps, Validation, digest_json, schema_problem, validate_value
from harness.types import JsonObject, ToolList

VALUE_STEPS = 400_000
"""Most steps for one value: enough for about 80,000 values in rows and columns; takes a second."""

SCHEMA_STEPS = 200_000
"""Most steps to check whether a schema is valid: enough for about 5,000 properties."""

AT_ONCE_STEPS = 4_000
"""Most steps that run on the event loop itself: about 20 ms."""

CHECKED_BYTES = 1_000_000
"""Largest result that is validated."""

_KEPT = 1_024  # schemas whose examination is cached, and values whose validation is
_SHORT = 20_000  # longest value, in characters, whose validation is cached
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """The result of examining a schema."""

    problem: str | None = None
    """Why it is not a valid JSON Schema; ``None`` if it is, as far as is known."""
    gave_up: str | None = None
    """Why it could not be examined; ``None`` if it could."""


# For the whole process, since each new connection to a server brings the same schemas.
_examined: OrderedDict[str, Examination] = OrderedDict()
_validated: OrderedDict[str, Validation] = OrderedDict()


async def examine_schema(schema: JsonObject) -> Examination:
    """Return whether ``schema`` is a valid JSON Schema, as far as that can be determined."""
    return await _Schema(schema).examine()


class _Schema:
    """A schema and the results for it; equal schemas share them."""

    def __init__(self, schema: JsonObject) -> None:
        self._schema = schema

    @cached_property
    def _key(self) -> str | None:
        """Equal for equal schemas; ``None`` if it is nested too deeply to tell."""
        try:
            return digest_json(self._schema)
        except RecursionError:
            return None

    @cached_property
    def properties(self) -> frozenset[str]:
        """The names of all properties, at any depth."""
        return frozenset(
            name
            for key, value in _iterate_entries(self._schema)
            if key == "properties" and isinstance(value, Mapping)
            for name in value
        )

    async def examine(self) -> Examination:
        """Return whether it is a valid JSON Schema, as far as that can be determined."""
        if self._key is None:
            return Examination(gave_up="it is nested too deeply")
        found = _examined.get(self._key)
        if found is None:
            work = partial(_find_schema_problem, self._schema)
            found = await _run_within_steps(work, SCHEMA_STEPS)
            _cache_result(_examined, self._key, found)
        return found

    async def validate(self, value: Any) -> Validation:
        """Return the errors of ``value``; cached, since many arguments and results repeat."""
        examined = await self.examine()
        if examined.problem is not None:
            why = f"the tool's schema is not a valid JSON Schema: {examined.problem}"
            return Validation(gave_up=why)
        if examined.gave_up is not None:
            why = "whether the tool's schema is a valid JSON Schema is not known"
            return Validation(gave_up=f"{why}: {examined.gave_up}")
        text = json.dumps(value, ensure_ascii=False)  # in the schema's order, which messages repeat
        key = f"{self._key} {text}"
        found = _validated.get(key)
        if found is None:
            found = await _run_within_steps(
                partial(validate_value, value, self._schema), VALUE_STEPS
            )
            if found.gave_up is None and len(text) <= _SHORT:
                _cache_result(_validated, key, found)
        return found


def _iterate_entries(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield each entry of the objects in ``value``, at any depth."""
    # A list instead of recursion: a server's schema may nest deeper than Python's stack.
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, Mapping):
            yield from one.items()
            left += one.values()
        elif isinstance(one, list | tuple):
            left += one


def _cache_result(cache: OrderedDict[str, _T], key: str, found: _T) -> None:
    cache[key] = found
    if len(cache) > _KEPT:
        cache.popitem(last=False)


class ToolSchemas:
    """The schemas of one tool list."""

    def __init__(self, tools: ToolList) -> None:
        """Check against the schemas of ``tools``."""
        self._inputs = {tool.name: _Schema(tool.input_schema) for tool in tools.tools}
        self._outputs = {
            tool.name: _Schema(tool.output_schema)
            for tool in tools.tools
            if tool.output_schema is not None
        }

    async def validate_arguments(self, tool: str, arguments: JsonObject) -> Validation:
        """Return the errors of ``arguments`` by the tool's ``inputSchema``.

        An unlisted tool has no errors.
        """
        schema = self._inputs.get(tool)
        return Validation() if schema is None else await schema.validate(dict(arguments))

    def collect_names(self, tool: str, arguments: JsonObject) -> frozenset[str]:
        """Return the names of the tool's parameters and of ``arguments``, at any depth."""
        schema = self._inputs.get(tool)
        given = frozenset(name for name, _ in _iterate_entries(arguments))
        return given if schema is None else given | schema.properties

    async def validate_output(self, tool: str, structured: Any, size: int) -> Validation:
        """Return the errors of ``structured``, of ``size`` bytes, by the ``outputSchema``."""
        if tool not in self._outputs:
            return Validation()
        if structured is None:
            why = "the tool has an outputSchema, but its result has no structuredContent"
            return Validation(errors=(why,))
        if size > CHECKED_BYTES:
            return Validation(gave_up=f"it is larger than {CHECKED_BYTES:,} bytes")
        return await self._outputs[tool].validate(structured)


def _find_schema_problem(schema: JsonObject, budget: Budget) -> Examination:
    try:
        return Examination(problem=schema_problem(schema, budget))
    except OutOfSteps as error:
        return Examination(gave_up=f"that takes {error}")


async def _run_within_steps(work: Callable[[Budget], _T], steps: int) -> _T:
    """Return the result of ``work`` within ``steps``; longer work runs in a thread."""
    # Nearly all work ends here; only what does not begins again in a thread, with more steps.
    budget = Budget(AT_ONCE_STEPS)
    found = work(budget)
    if budget.left >= 0:
        return found
    budget = Budget(steps)
    try:
        # A trial whose time is over does not wait for the thread.
        return await run_sync(work, budget, abandon_on_cancel=True)
    finally:
        budget.end()  # ends a thread that nobody waits for any more
