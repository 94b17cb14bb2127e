"""An agent that can be asked, for ``type: python``: it calls the tool that its prompt names."""

from __future__ import annotations

from typing import Any

from mcp import Client
from mcp_types import ElicitResult, TextContent


async def ask(prompt: str, mcp_url: str) -> str:

    async def answer(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"city": f"Ulm after {params.message}"})

    async with Client(mcp_url, mode="legacy", elicitation_callback=answer) as client:
        resources = (await client.list_resources()).resources
        result = await client.call_tool(prompt, {})
        (text,) = result.content
        assert isinstance(text, TextContent)
        return f"{text.text}; {len(resources)} resource"


async def cannot_be_asked(prompt: str, mcp_url: str) -> str:
    async with Client(mcp_url, mode="legacy") as client:
        (text,) = (await client.call_tool(prompt, {})).content
        assert isinstance(text, TextContent)
        return text.text
