"""The tools of a server as one user sees them: all pages and schemas, read leniently.

One broken tool must not hide the others, so each is read by itself. A tool that cannot be offered,
or only with a change, gets a `ToolProblem`.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, TypeVar

from anyio.to_thread import run_sync
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import find_invalid_x_mcp_header

from harness.base import (
    Budget,
    OutOfSteps,
    ServerError,
    Validation,
    digest_json,
    find_shortcoming,
    schema_problem,
    validate_value,
)
from harness.sessions.call_outcome import METHOD_NOT_FOUND
from harness.sessions.refusals import build_step_error
from harness.sessions.session import Introduction, get_next_cursor, has_bad_cursor
from harness.sessions.transports.frames import is_closed, is_no_answer
from harness.types import THE_LIST, JsonObject, Tool, ToolList, ToolProblem, dataclass

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


MAX_PAGES = 100
"""Most pages that are requested: a faulty server may page forever."""

MOST_INSTRUCTIONS = 100_000
"""Most characters of a server's instructions that are read; hosts show a few thousand at most."""

MAX_TOOLS = 10_000
"""Most tools that are read; no model can be offered a tenth of them."""

_COSTLY = "the official client rejects the whole list because of it"
_NAME = re.compile(r"[A-Za-z0-9_./-]{1,128}")

Request = Callable[[str, JsonObject], Awaitable[dict[str, Any]]]


async def list_tools(
    request: Request, refusals: Sequence[str] = (), said: Introduction | None = None
) -> ToolList:
    """Request every page and return the tools that this user can be offered.

    ``refusals`` are the server's own words for refusing a caller, ``said`` is its introduction.

    Raises:
        NotAdmitted: the server refused this caller.
        ServerError: the server refused, or its answer is not a tool list.
        ConnectionError: it is gone.
    """
    listing = _ToolCollector()
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(MAX_PAGES):
        cursor = await listing.add_page(await _request_page(request, cursor, refusals))
        if cursor is None:
            break
        if cursor in seen:
            why = f"paging goes in a circle: the cursor {cursor[:80]!r} came twice"
            listing.add_problem(THE_LIST, why)
            break
        if len(listing.tools) >= MAX_TOOLS:
            listing.add_problem(THE_LIST, f"only the first {MAX_TOOLS:,} tools were read")
            break
        seen.add(cursor)
    else:
        why = f"paging did not end: only the first {MAX_PAGES} pages were read"
        listing.add_problem(THE_LIST, why)
    return listing.build_list(said or Introduction())


async def _request_page(
    request: Request, cursor: str | None, refusals: Sequence[str]
) -> dict[str, Any]:
    try:
        return await request("tools/list", {} if cursor is None else {"cursor": cursor})
    except MCPError as error:
        if is_closed(error):
            raise ConnectionError from error
        if is_no_answer(error.data):
            raise ServerError(f"did not list its tools: {error.message}") from error
        # A server that offers no tools need not know the method.
        if error.code == METHOD_NOT_FOUND and cursor is None:
            return {"tools": []}
        raise build_step_error(error, "to list its tools", refusals) from error


class _ToolCollector:
    """Collects tools and problems over pages."""

    def __init__(self) -> None:
        self.tools: dict[str, Tool] = {}
        self._problems: list[ToolProblem] = []
        self._count = 0

    async def add_page(self, page: JsonObject) -> str | None:
        """Add the tools of one page and return the cursor of the next."""
        tools = page.get("tools")
        if not isinstance(tools, list):
            raise ServerError("answered tools/list without a list of tools")
        for raw in tools:
            self._count += 1
            await self._add_tool(raw)
        if has_bad_cursor(page):
            why = "the cursor of its next page is no text: it was not read"
            self.add_problem(THE_LIST, why)
        return get_next_cursor(page)

    def add_problem(
        self, tool: str, problem: str, *, usable: bool = True, unknown: bool = False
    ) -> None:
        """Report a problem."""
        found = ToolProblem(tool=tool, problem=problem, usable=usable, unknown=unknown)
        self._problems.append(found)

    def build_list(self, said: Introduction) -> ToolList:
        """Return the collected list, with the instructions of the server."""
        instructions = (said.instructions or "").strip()
        if len(instructions) > MOST_INSTRUCTIONS:
            instructions = instructions[:MOST_INSTRUCTIONS]
            self.add_problem("instructions", f"only {MOST_INSTRUCTIONS:,} characters were read")
        tools = tuple(self.tools.values())
        # In the order of names: the same tools in another order are no change.
        seen = [
            {name: getattr(tool, name) for name in Tool.__slots__}
            for tool in sorted(tools, key=lambda tool: tool.name)
        ]
        return ToolList(
            tools=tools,
            problems=tuple(self._problems),
            digest=digest_json([seen, instructions] if instructions else seen),
            instructions={said.name or "server": instructions} if instructions else {},
        )

    async def _add_tool(self, raw: Any) -> None:
        name = raw.get("name") if isinstance(raw, dict) else None
        if not isinstance(name, str) or not name:
            self.add_problem(f"#{self._count}", "it has no name", usable=False)
            return
        if name in self.tools:
            self.add_problem(name, "it is listed more than once; the first is offered")
            return
        schema, problem = _prepare_input_schema(raw.get("inputSchema"))
        if schema is None:
            self.add_problem(name, problem or "", usable=False)
            return
        for reservation in filter(None, (problem, *_find_reservations(name, raw))):
            self.add_problem(name, reservation)
        tool = self.tools[name] = _build_tool(name, raw, schema)
        await self._examine_schema(name, "inputSchema", tool.input_schema)
        if tool.output_schema is not None:
            await self._examine_schema(name, "outputSchema", tool.output_schema)

    async def _examine_schema(self, name: str, word: str, schema: JsonObject) -> None:
        examined = await examine_schema(schema)
        if examined.problem is not None:
            why = f"its {word} is not a valid JSON Schema: {examined.problem}"
            self.add_problem(name, why)
        if examined.gave_up is not None:
            why = f"harness could not find out whether its {word} is a valid JSON Schema"
            self.add_problem(name, f"{why}: {examined.gave_up}", unknown=True)


def _prepare_input_schema(schema: Any) -> tuple[dict[str, Any] | None, str | None]:
    """Return the schema to offer, or ``None``, and its problem."""
    if not isinstance(schema, dict):
        lack = "missing" if schema is None else "not an object"
        return None, f"its inputSchema is {lack}; {_COSTLY}"
    kind = schema.get("type")
    if (why := find_shortcoming(schema)) is not None:
        return None, f"its inputSchema cannot be used: {why}"
    if (why := find_invalid_x_mcp_header(schema)) is not None:
        # A MUST of revision 2026-07-28, for a proxy could be told another value than the server.
        return None, f"its inputSchema breaks a rule on x-mcp-header, so clients drop it: {why}"
    if kind == "object":
        return schema, None
    if kind is None:
        added = {"type": "object", **schema}
        return added, 'its inputSchema lacks "type": "object", which was added'
    return None, f"its inputSchema is of type {str(kind)[:80]!r} instead of 'object'; {_COSTLY}"


def _find_reservations(name: str, raw: JsonObject) -> Iterator[str | None]:
    if not _NAME.fullmatch(name):
        allowed = "1 to 128 of the characters A-Z a-z 0-9 _ - . /"
        yield f"its name is not {allowed}, so many clients reject it"
    for key in ("title", "description"):
        if not isinstance(raw.get(key), str | None):
            yield f"its {key} is not text and was dropped"
    output = raw.get("outputSchema")
    if output is None:
        return
    if not isinstance(output, dict):
        yield "its outputSchema is not an object and was dropped"
    elif (why := find_shortcoming(output)) is not None:
        yield f"its outputSchema was dropped: {why}"


def _build_tool(name: str, raw: JsonObject, schema: JsonObject) -> Tool:
    hints = raw.get("annotations")
    hints = hints if isinstance(hints, dict) else {}
    output = _keep_type(dict, raw.get("outputSchema"))
    return Tool(
        name=name,
        input_schema=schema,
        description=_keep_type(str, raw.get("description")) or "",
        # Before revision 2025-06-18 a title was only among the annotations.
        title=_keep_type(str, raw.get("title")) or _keep_type(str, hints.get("title")),
        output_schema=None if output is None or find_shortcoming(output) else output,
        read_only=_keep_type(bool, hints.get("readOnlyHint")),
        destructive=_keep_type(bool, hints.get("destructiveHint")),
    )


def _keep_type(kind: type, value: Any) -> Any:
    return value if isinstance(value, kind) else None
