"""The baseline: the same cases as a loop that can be written in an afternoon.

The official SDKs of the model and of MCP, one session, as many cases at the same time as asked. A
case is a question, a tool call, and an answer; it passes when the tool was called and the answer
contains a word. Deadlines, records and reports are left out: they are the work of harness.

``python by_hand.py URL CASES CONCURRENCY SERVER...``
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.types import TextContent
from openai import AsyncOpenAI


async def main(url: str, cases: int, concurrency: int, command: str, arguments: list[str]) -> int:
    """Run every case; return how many passed."""
    model = AsyncOpenAI(base_url=f"{url}/v1", api_key="test-key")
    parameters = StdioServerParameters(command=command, args=arguments)
    async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
        await session.initialize()
        tools = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.input_schema,
                },
            }
            for tool in (await session.list_tools()).tools
        ]
        slots = asyncio.Semaphore(concurrency)

        async def run(number: int) -> bool:
            async with slots:
                return await converse(
                    model, session, tools, f"What do we know of customer {number}?"
                )

        return sum(await asyncio.gather(*(run(number) for number in range(cases))))


async def converse(
    model: AsyncOpenAI, session: ClientSession, tools: list[Any], prompt: str
) -> bool:
    """Run a conversation with calls until there is an answer; return whether the case passed."""
    messages: list[Any] = [{"role": "user", "content": prompt}]
    called = set()
    while True:
        completion = await model.chat.completions.create(
            model="gpt-4o", messages=messages, tools=tools
        )
        message = completion.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return "get_record" in called and "Done" in (message.content or "")
        for call in message.tool_calls:
            assert call.type == "function"
            called.add(call.function.name)
            result = await session.call_tool(
                call.function.name, json.loads(call.function.arguments)
            )
            text = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": text})


if __name__ == "__main__":
    url, cases, concurrency, command, *arguments = sys.argv[1:]
    passed = asyncio.run(main(url, int(cases), int(concurrency), command, arguments))
    print(f"{passed} passed")
    sys.exit(passed != int(cases))
