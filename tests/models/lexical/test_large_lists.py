"""A list of tools without measure is read beside the event loop: other trials go on."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest

from harness.models.lexical import LexicalModel
from harness.types import ModelSpec, Reply, Tool, ToolList, UserMessage

pytestmark = pytest.mark.anyio


async def test_a_description_of_a_megabyte_holds_up_nobody() -> None:
    schema = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
    tool = Tool(name="get_order", description="Get the order. " + "words " * 400_000, input_schema=schema)
    model = LexicalModel(ModelSpec(name="lexical", provider="lexical", model_id="lexical"))
    replies: list[Reply] = []
    turns = 0

    async def ask() -> None:
        prompt = UserMessage(text="Get the order with order id A-17.")
        replies.append(await model.answer([prompt], ToolList(tools=(tool,)), None))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            while not replies:
                turns += 1
                await anyio.sleep(0.001)
    assert replies[0].tool_requests[0].arguments == {"order_id": "A-17"}
    assert turns > 1  # a reply that is made at once leaves no turn to anybody
