"""The servers as the processes that they are, over the official client."""

import json
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.clock import BOUND_S
from tests.end_to_end.warm import warm_python
from tests.servers.airline.support import DATABASE as AIRLINE
from tests.servers.retail.support import DATABASE as SHOP

pytestmark = pytest.mark.anyio

USER = {"type": "object", "properties": {"user_id": {"type": "string"}}, "required": ["user_id"]}
LISTED = [
    {"name": "get_user_details", "description": "Look\n\nup.", "parameters": USER},
    {"name": "cancel_pending_order", "description": "Cancel.", "parameters": {"type": "object"}},
    {"name": "cancel_reservation", "description": "Cancel.", "parameters": {"type": "object"}},
]
DOMAINS = {"airline": AIRLINE, "retail": SHOP}


def folder_of(domain: str, folder: Path) -> Path:
    """Write the data of a domain as they are fetched."""
    (folder / "db.json").write_text(json.dumps(DOMAINS[domain]))
    (folder / "tools.json").write_text(json.dumps(LISTED))
    (folder / "policy.md").write_text("Be kind.")
    return folder


@asynccontextmanager
async def connected(domain: str, folder: Path, *options: str) -> AsyncIterator[Client]:
    arguments = ["-m", f"servers.{domain}", "--data", str(folder), *options]
    with (folder / "stderr").open("w") as errors:
        server = StdioServerParameters(command=warm_python(), args=arguments)
        async with Client(
            stdio_client(server, errlog=errors), read_timeout_seconds=BOUND_S, cache=None
        ) as client:
            yield client


async def text_of(client: Client, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
    result = await client.call_tool(tool, arguments)
    (block,) = result.content
    assert block.type == "text"
    return block.text, result.is_error


async def state(client: Client) -> str:
    (content,) = (await client.read_resource("state://hash")).contents
    text: str = content.text  # type: ignore[union-attr]
    return text


@pytest.mark.parametrize("domain", DOMAINS)
async def test_a_server_shows_the_schemas_as_they_stand_and_does_not_enforce_them(
    domain: str, tmp_path: Path
) -> None:
    async with connected(domain, folder_of(domain, tmp_path)) as client:
        listed = (await client.list_tools()).tools
        assert [
            {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
            for tool in listed
        ] == LISTED
        assert listed[0].annotations is not None
        assert listed[0].annotations.read_only_hint is True
        changes = next(
            tool for tool in listed if tool.annotations and tool.annotations.destructive_hint
        )
        assert changes.name == (
            "cancel_reservation" if domain == "airline" else "cancel_pending_order"
        )
        assert listed[0].output_schema is not None
        user_id = next(iter(DOMAINS[domain]["users"]))
        found = await client.call_tool(
            "get_user_details", {"user_id": user_id}
        )  # checked against the schema
        assert found.structured_content is not None
        assert found.content[0].text == json.dumps(found.structured_content)  # type: ignore[union-attr]
        text, is_error = await text_of(client, "get_user_details", {})
        name = "AirlineTools" if domain == "airline" else "RetailTools"
        message = (
            f"Error: {name}.get_user_details() missing 1 required positional argument: 'user_id'"
        )
        assert (text, is_error) == (message, True)
        assert await text_of(client, "undo", {}) == ("Error: Tool 'undo' not found.", True)
        assert await text_of(client, "no_tool", {}) == ("Error: Tool 'no_tool' not found.", True)
        (policy,) = (await client.read_resource(f"policy://{domain}")).contents
        assert policy.text == "Be kind."  # type: ignore[union-attr]


async def test_a_state_is_known_by_its_digest_and_set_back_by_a_tool_that_is_not_listed(
    tmp_path: Path,
) -> None:
    async with connected("retail", folder_of("retail", tmp_path), "--reset-tool", "undo") as client:
        untouched = await state(client)
        cancelled = await text_of(
            client, "cancel_pending_order", {"order_id": "#P", "reason": "no longer needed"}
        )
        assert cancelled[1] is False
        assert await state(client) != untouched
        assert "undo" not in [tool.name for tool in (await client.list_tools()).tools]
        assert await text_of(client, "undo", {}) == ("null", False)
        assert await state(client) == untouched


async def test_a_tool_that_is_not_listed_is_carried_out_where_it_is_asked_for_alone(
    tmp_path: Path,
) -> None:
    folder = folder_of("retail", tmp_path)
    async with connected("retail", folder) as client:
        unlisted = await text_of(client, "get_item_details", {"item_id": "M1"})
        assert unlisted == ("Error: Tool 'get_item_details' not found.", True)
    async with connected("retail", folder, "--unlisted-tool", "get_item_details") as client:
        assert "get_item_details" not in [tool.name for tool in (await client.list_tools()).tools]
        text, is_error = await text_of(client, "get_item_details", {"item_id": "M1"})
        assert (json.loads(text)["item_id"], is_error) == ("M1", False)


def test_without_data_a_server_names_the_command_that_fetches_them(tmp_path: Path) -> None:
    ended = subprocess.run(
        [warm_python(), "-m", "servers.retail"],
        env={"HARNESS_CACHE": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 2
    assert "harness fetch tau2" in ended.stderr
    assert "Traceback" not in ended.stderr
