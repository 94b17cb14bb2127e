import logging

import pytest
from mcp import Client
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from typing_extensions import TypedDict

from servers.common.governed import GovernedServer
from servers.common.policy import Policies
from tests.servers.data_governance.support import Caller, text_of

pytestmark = pytest.mark.anyio


class Answer(TypedDict):
    answer: int


async def crash() -> Answer:
    """Fail as no tool should."""
    raise RuntimeError("omar.petrov42@example.com")


async def complain() -> Answer:
    """Fail as a tool may."""
    raise ToolError("try another day")


def make(*functions: object) -> GovernedServer:
    tools = [Tool.from_function(function) for function in functions]  # type: ignore[arg-type]
    return GovernedServer(
        "test", title="Test", instructions="", tools=tools, policies=Policies(), environ={}
    )


async def test_what_a_crash_says_stays_on_the_server_and_is_logged_there(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with Client(make(crash), cache=None) as client:
        with caplog.at_level(logging.ERROR):
            result = await Caller(client).call(None, "crash")
    assert result.is_error
    assert text_of(result) == "Error executing tool crash"
    assert "raised an unexpected exception" in caplog.text


async def test_what_a_tool_says_reaches_the_model_as_it_is() -> None:
    async with Client(make(complain), cache=None) as client:
        result = await Caller(client).call(None, "complain")
    assert (result.is_error, text_of(result)) == (True, "try another day")
