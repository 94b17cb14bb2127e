"""Claude Code, Codex and opencode, the real programs, run against the fake provider on loopback.

Each is given a prompt and an MCP server on stdio; the provider streams a call and an answer.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fake_provider import FakeProvider, Incoming, Step, call, say, usage
from tests.fake_provider.agents.programs import PROGRAMS, Program

ANSWER = "They live in New York, as the record says."


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_an_agent_calls_a_tool_of_its_mcp_server_and_answers(
    program: Program, tmp_path: Path
) -> None:
    def script(request: Incoming) -> Step:
        if not request.tools:
            return say("A title.")  # what some agents ask for beside the conversation
        if request.turn == 0:
            asked = call(program.tool, {"customer_id": "CUST_00019"}, text="I will look.")
            return usage(asked, input=1000, output=70, cache_read=0, cache_write=0)
        return usage(say(ANSWER), input=1200, output=30, cache_read=0, cache_write=0)

    with FakeProvider(script) as provider:
        lines = program.run(tmp_path, provider.url, "In which city does CUST_00019 live?")
        journal = provider.journal
    assert [request.rejected for request in journal if request.rejected] == []
    talk = [request for request in journal if request.tools and request.body.get("stream")]
    assert [request.turn for request in talk] == [0, 1]
    assert program.tool in talk[0].tool_names
    (result,) = talk[1].tool_results
    assert "New York" in result.text
    said = program.read(lines)
    assert (said.answer, said.called) == (ANSWER, [program.reported])
    assert (said.tokens_in, said.tokens_out) == (2200, 100)
    assert said.cost_usd == (None if program.cost_usd is None else pytest.approx(program.cost_usd))
