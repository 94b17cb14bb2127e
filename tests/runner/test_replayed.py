import anyio
import pytest

from harness.errors import ServerError
from harness.runner.replayed import carried_out
from harness.types import AssistantMessage, Outcome, ToolRequest, Transcript
from tests.support import MemorySession, asks

RECORDED = Transcript(messages=(AssistantMessage(reply=asks(("look", {}), ("write", {}))),))


async def answer(request: ToolRequest) -> tuple[Outcome, str]:
    return ("server_lost", "HTTP 503") if request.tool == "look" else ("ok", "done")


def test_calls_are_carried_out_again() -> None:
    now, differences = anyio.run(carried_out, RECORDED, MemorySession())
    assert [call.text for call in now.tool_calls] == ["result of call_1", "result of call_2"]
    assert differences == ()


def test_a_call_that_was_not_answered_is_no_result_even_where_the_server_is_still_there() -> None:
    with pytest.raises(ServerError, match="HTTP 503") as caught:
        anyio.run(carried_out, RECORDED, MemorySession(answer))
    assert caught.value.stderr_tail == "last words"
