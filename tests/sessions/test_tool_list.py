"""Faulty tool lists: usable tools stay usable, and faults are reported.

What is usable stays usable, what is not is reported.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from harness.sessions.pool import open_sessions
from harness.sessions.tool_list import MAX_PAGES, list_tools
from harness.types import ServerSpec, ToolList
from tests.sessions.bad_server import TOOLS
from tests.sessions.servers import ServerFactory

pytestmark = pytest.mark.anyio

GOOD = {"name": "good", "description": "Does good.", "inputSchema": {"type": "object"}}


async def tools_of(spec: ServerSpec) -> ToolList:
    async with open_sessions() as pool, pool.lend_session(spec, None) as session:
        return session.tools


async def listed(server: ServerFactory, *tools: Any) -> ToolList:
    return await tools_of(server("broken_tools", env={"TOOLS": json.dumps(tools)}))


async def test_all_pages_are_read(server: ServerFactory) -> None:
    whole, paged = await tools_of(server("ok")), await tools_of(server("paged"))
    assert [tool.name for tool in paged.tools] == list(TOOLS)
    assert paged.digest == whole.digest
    assert paged.problems == ()


async def test_everything_that_a_server_says_of_a_tool_is_kept(server: ServerFactory) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    found = await listed(
        server,
        {
            "name": "wipe",
            "title": "Wipe",
            "description": "Deletes everything.",
            "inputSchema": schema,
            "outputSchema": schema,
            "annotations": {"readOnlyHint": False, "destructiveHint": True},
        },
    )
    tool = found.get("wipe")
    assert tool is not None
    assert (tool.title, tool.description, tool.input_schema, tool.output_schema) == (
        "Wipe",
        "Deletes everything.",
        schema,
        schema,
    )
    assert (tool.read_only, tool.destructive) == (False, True)


def nested(levels: int) -> Any:
    schema: Any = {"type": "object"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        (None, "its inputSchema is missing"),
        ("object", "its inputSchema is not an object"),
        ([], "its inputSchema is not an object"),
        ({"type": "array"}, "its inputSchema is of type 'array' instead of 'object'"),
        (nested(150), "its inputSchema cannot be used: it nests deeper than 100 levels"),
        (
            {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A: b"}}},
            "its inputSchema breaks a rule on x-mcp-header, so clients drop it: property 'a'",
        ),
        (
            {"type": "object", "properties": {"a": {"type": "object", "x-mcp-header": "A"}}},
            "its inputSchema breaks a rule on x-mcp-header, so clients drop it: property 'a'",
        ),
    ],
)
async def test_one_broken_schema_leaves_the_good_tools_usable(
    server: ServerFactory, schema: Any, problem: str
) -> None:
    found = await listed(server, {"name": "bad", "inputSchema": schema}, GOOD)
    assert [tool.name for tool in found.tools] == ["good"]
    (reported,) = found.problems
    assert (reported.tool, reported.usable) == ("bad", False)
    assert reported.problem.startswith(problem)


@pytest.mark.parametrize(
    ("tool", "problem"),
    [
        (GOOD | {"name": "get everything!"}, "its name is not 1 to 128 of the characters"),
        (GOOD | {"name": "n" * 129}, "its name is not 1 to 128 of the characters"),
        (GOOD | {"inputSchema": {"properties": {}}}, 'its inputSchema lacks "type": "object"'),
        (
            GOOD | {"inputSchema": {"type": "object", "properties": 5}},
            "its inputSchema is not a valid JSON Schema",
        ),
        (
            GOOD | {"outputSchema": {"type": "quantity"}},
            "its outputSchema is not a valid JSON Schema",
        ),
        (GOOD | {"outputSchema": "object"}, "its outputSchema is not an object"),
        (
            GOOD | {"outputSchema": nested(150)},
            "its outputSchema was dropped: it nests deeper than 100 levels",
        ),
        (GOOD | {"description": ["a"]}, "its description is not text"),
    ],
)
async def test_an_odd_tool_is_offered_with_a_reservation(
    server: ServerFactory, tool: Any, problem: str
) -> None:
    found = await listed(server, tool)
    (reported,) = found.problems
    assert reported.usable
    assert reported.problem.startswith(problem)
    assert [offered.name for offered in found.tools] == [tool["name"]]


async def test_of_two_tools_of_one_name_the_first_is_offered(server: ServerFactory) -> None:
    found = await listed(server, GOOD, GOOD | {"description": "Does bad."})
    assert [tool.description for tool in found.tools] == ["Does good."]
    assert [(problem.tool, problem.usable) for problem in found.problems] == [("good", True)]


async def test_a_tool_without_a_name_is_reported_by_its_place(server: ServerFactory) -> None:
    found = await listed(server, GOOD, {"inputSchema": {}}, "tool", GOOD | {"name": ""})
    assert [(problem.tool, problem.usable) for problem in found.problems] == [
        ("#2", False),
        ("#3", False),
        ("#4", False),
    ]


async def test_endless_paging_ends_at_a_stated_page(server: ServerFactory) -> None:
    found = await tools_of(server("endless"))
    assert len(found.tools) == MAX_PAGES
    assert [problem.problem for problem in found.problems] == [
        "paging did not end: only the first 100 pages were read"
    ]


async def test_paging_in_a_circle_is_noticed(server: ServerFactory) -> None:
    found = await tools_of(server("circle"))
    assert [tool.name for tool in found.tools] == ["t0", "tagain"]
    assert "paging goes in a circle" in found.problems[0].problem


@pytest.mark.parametrize(
    ("cursor", "problems"), [("", 0), (None, 0), (2, 1), (2.5, 1), ({"page": 2}, 1)]
)
async def test_a_cursor_that_is_no_text_is_reported_and_an_empty_one_ends_the_list(
    cursor: Any, problems: int
) -> None:
    async def request(_: str, params: Mapping[str, Any]) -> dict[str, Any]:
        assert params == {}
        return {"tools": [GOOD], "nextCursor": cursor}

    found = await list_tools(request)
    assert [tool.name for tool in found.tools] == ["good"]
    said = "the cursor of its next page is no text: it was not read"
    assert [one.problem for one in found.problems] == [said] * problems


async def test_a_server_without_tools_is_no_error(server: ServerFactory) -> None:
    assert (await tools_of(server("toolless"))).tools == ()


async def test_equal_tools_have_equal_digests_in_any_order(server: ServerFactory) -> None:
    other = GOOD | {"name": "other"}
    one, two = await listed(server, GOOD, other), await listed(server, other, GOOD)
    changed = await listed(server, GOOD, other | {"description": "Something else."})
    assert one.digest == two.digest != changed.digest
