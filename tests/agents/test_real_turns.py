"""Claude Code and Codex, the real programs, in a conversation of several turns."""

from __future__ import annotations

import pytest

from harness.judging.exit_codes import EXIT_PASSED
from tests.agents.projects import Agents
from tests.agents.test_verdicts import agents
from tests.fake_provider import FakeProvider, Incoming, Step, call, say, usage
from tests.fake_provider.agents.programs import PROGRAMS

TURNS = [{"prompt": "first"}, {"prompt": "second"}, {"prompt": "third", "fresh": True}]


def remembering(request: Incoming) -> Step:
    """Call a tool at the beginning of a conversation, then say how many turns there were."""
    if not request.tools:
        return say("A title.")
    if request.turn == 0:
        tool = next(name for name in request.tool_names if name.endswith("get_customer_details"))
        step = call(tool, {"customer_id": "CUST_00019"})
    else:
        step = say(f"After {request.turn} replies.")
    return usage(step, input=1000, output=10, cache_read=0, cache_write=0)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ["claude", "codex"])
def test_it_continues_the_conversation_and_tells_the_usage_of_each_turn(
    name: str, project: Agents
) -> None:
    program = next(one for one in PROGRAMS if one.name == name).find()
    test = {
        "name": "turns",
        "turns": TURNS,
        "user_context": {"role": "admin", "permissions": []},
        "assertions": {"must_call": ["get_customer_details"]},
    }
    project.suite("t", [test], server="data_governance")
    with FakeProvider(remembering) as provider:
        project.configure(agents={name: {**agents(provider)[name], "command": [str(program)]}})
        done = project.run("evals", "t", "--agent", name, "--timeout", "300000")
    assert done.code == EXIT_PASSED, done.stderr
    result, transcript = project.only()
    said = [one.reply.text for one in transcript.messages if one.role == "assistant"]
    answers = ["After 1 replies.", "After 2 replies.", "After 1 replies."]
    assert [text for text in said if text] == answers
    assert (result.usage.input_tokens, result.usage.output_tokens) == (5000, 50)
