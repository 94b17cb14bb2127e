"""A field that a model's API refuses costs no trial, and the user is told once."""

from __future__ import annotations

from tests.end_to_end.harness_process import Project, plain_server
from tests.fake_provider import FakeProvider, call, say


def test_a_field_that_the_api_refuses_is_left_out_and_said_once(project: Project) -> None:
    with FakeProvider([call("echo", {"n": 7.0}), say("Done.")]) as provider:
        entry = {
            "type": "openai",
            "model": "gpt-5",
            "api_key": "test-key",
            "base_url": f"{provider.url}/v1",
            "temperature": 0.5,
        }
        project.configure(models={"models": {"m": entry}}, servers={"srv": plain_server()})
        test = {"name": "t", "prompt": "Echo 7.", "assertions": {"must_call": [{"tool": "echo"}]}}
        project.suite("words", [test], server="srv")
        ran = project.run("evals", "words", "--model", "m", "--trials", "3", "-c", "3")
    assert ran.code == 0, ran
    assert ran.stderr.count("m: temperature is not sent any more: the API does not take it.") == 1
    codes = [request.status for request in provider.journal]
    assert (codes.count(200), set(codes)) == (6, {200, 400})
    adapted = [
        message.reply.adapted
        for _, transcript in project.log()
        for message in (transcript.messages if transcript else ())
        if message.role == "assistant"
    ]
    assert sum(map(len, adapted)) == codes.count(400)  # each trial's log says what it learned
