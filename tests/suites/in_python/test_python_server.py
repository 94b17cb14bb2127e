"""The tools of suites in Python, as a session sees them."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from harness.base.errors import ServerError
from harness.judging.checks import VOCABULARY
from harness.sessions.pool import open_sessions
from harness.sessions.session import Session
from harness.suites.in_python.suite import read_object
from harness.types import ServerSpec, Suite, ToolCall, ToolRequest
from tests.end_to_end.warm import warm_python
from tests.suites.in_python.python_project import PythonProject, project
from tests.suites.in_python.served_suite import Broken, Served

__all__ = ["project"]

pytestmark = pytest.mark.anyio


@pytest.fixture
def warm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the server forked from a process that has the SDK.

    Only the first test is of its start.
    """
    monkeypatch.setattr(sys, "executable", warm_python())


@asynccontextmanager
async def opened(spec: Any) -> AsyncIterator[Session]:
    assert isinstance(spec, ServerSpec)
    async with open_sessions() as pool, pool.lend_session(spec, None) as session:
        yield session


async def call(session: Session, tool: str, **arguments: Any) -> ToolCall:
    return await session.call(ToolRequest(id="1", tool=tool, arguments=arguments), reply=1, epoch=0)


def read(target: Any) -> Suite:
    return read_object(target, VOCABULARY)


async def test_functions_and_handlers_are_tools_behind_a_real_session() -> None:
    async with opened(read(Served).server) as session:
        tools = {tool.name: tool for tool in session.tools.tools}
        assert list(tools) == ["forecast", "slowly", "refuse", "sell", "all", "by-name"]
        schema = tools["forecast"].input_schema
        assert schema["required"] == ["city"]
        assert schema["properties"]["unit"]["enum"] == ["C", "F"]
        assert tools["forecast"].description == "Return the forecast.\n\nOne line a day."
        assert tools["all"].input_schema["properties"] == {"city": {"type": "string"}}

        made = await call(session, "forecast", city="Oslo", days=3)
        assert (made.outcome, made.structured) == ("ok", {"city": "Oslo", "days": 3, "unit": "C"})
        assert (await call(session, "slowly", text="ab")).text == "abab"
        assert (await call(session, "all", city="Oslo")).text == '{\n  "city": "Oslo"\n}'
        assert (await call(session, "by-name", city="Oslo")).text == "Oslo!"
        assert [(await call(session, "sell", amount=2)).text for _ in range(2)] == ["2", "4"]


@pytest.mark.usefixtures("warm")
async def test_what_a_tool_raises_is_told_to_the_model_and_goes_to_stderr_in_full() -> None:
    async with opened(read(Served).server) as session:
        made = await call(session, "refuse", reason="it is late")
        assert (made.outcome, made.refusal) == ("denied", "tool_error")
        assert "PermissionError: access denied: it is late" in made.text
        wrong = await call(session, "forecast", town="Oslo")
        assert wrong.outcome == "invalid_arguments"
        assert "served_suite.py" in session.stderr_tail()


@pytest.mark.usefixtures("warm")
async def test_a_case_with_tools_of_its_own_is_offered_those_alone() -> None:
    default, own = read(Served).cases
    assert default.server is None
    async with opened(own.server) as session:
        assert [tool.name for tool in session.tools.tools] == ["slowly"]


@pytest.mark.usefixtures("warm")
async def test_a_suite_without_tools_offers_none() -> None:
    class Plain:
        name = "plain"

        def cases(self) -> list[dict[str, str]]:
            return [{"id": "a", "input": "x"}]

        def check(self, case: Any, run: Any) -> bool:
            return True

    async with opened(read(Plain).server) as session:
        assert session.tools.tools == ()


@pytest.mark.usefixtures("warm")
async def test_a_function_that_cannot_be_a_tool_is_named() -> None:
    with pytest.raises(ServerError) as caught:
        async with opened(read(Broken).server):
            pass
    assert "the function 'no_tool' cannot be a tool" in caught.value.stderr_tail


@pytest.mark.slow
async def test_a_folder_of_the_same_name_as_the_program_does_not_stand_in_its_way(
    project: PythonProject,
) -> None:
    project.write("harness/__init__.py", "raise SystemExit('the wrong one')")
    project.write("mcp.py", "raise SystemExit('the wrong one')")
    async with opened(read(Served).server) as session:
        assert (await call(session, "slowly", text="a")).text == "aa"
