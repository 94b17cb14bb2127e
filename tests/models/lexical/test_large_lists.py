"""A list of tools without measure is read beside the event loop: other trials go on."""

from __future__ import annotations

from dataclasses import replace

import anyio
import anyio.lowlevel
import pytest

from harness.models.lexical import LexicalModel
from harness.types import ModelSpec, Reply, Tool, ToolList, UserMessage

pytestmark = pytest.mark.anyio


SCHEMA = {
    "type": "object",
    "properties": {"order_id": {"type": "string"}},
    "required": ["order_id"],
}
GET = Tool(name="get_order", description="Get the order.", input_schema=SCHEMA)


async def turns_during(*tools: Tool) -> int:
    """Return how many turns others have while the baseline finds the call to make."""
    model = LexicalModel(ModelSpec(name="lexical", provider="lexical", model_id="lexical"))
    replies: list[Reply] = []
    turns = 0

    async def ask() -> None:
        prompt = UserMessage(text="Get the order with order id A-17.")
        replies.append(await model.answer([prompt], ToolList(tools=tools), None))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            while not replies:
                turns += 1
                await anyio.lowlevel.checkpoint()
    assert replies[0].tool_requests[0].arguments == {"order_id": "A-17"}
    return turns


async def test_thousands_of_tools_hold_up_nobody() -> None:
    others = [
        Tool(name=f"do_{n}", description=f"Do thing {n}. " * 20, input_schema=SCHEMA)
        for n in range(2_000)
    ]
    assert await turns_during(GET, *others) > 5  # a reply that is made at once leaves a turn or two


async def test_a_description_of_megabytes_is_read_at_its_beginning() -> None:
    long = replace(GET, description=f"{GET.description} {'words ' * 1_000_000}")
    await turns_during(long)
    model = LexicalModel(ModelSpec(name="lexical", provider="lexical", model_id="lexical"))
    known = model._get_indexed(ToolList(tools=(long,)))
    assert [len(entry.tool.description or "") for entry in known.index.entries] == [20_000]
