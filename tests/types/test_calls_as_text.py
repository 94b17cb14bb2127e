"""An endpoint whose parser of tool calls is off, as its user meets it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.end_to_end.harness_process import Finished, Project, plain_server
from tests.fake_provider import FakeProvider, say

TOLD = "the model wrote a call of echo as text"
OFF = "The endpoint's parser of tool calls seems to be off"


def run(project: Project, text: str, *arguments: str, kind: str = "chat") -> Finished:
    """Run a case that expects a call of ``echo`` with a model that replies ``text``."""
    with FakeProvider([say(text)] * 4) as provider:
        model: dict[str, Any] = {"type": "openai", "api": kind, "base_url": f"{provider.url}/v1"}
        if kind == "messages":
            model = {"type": "anthropic", "base_url": provider.url}
        model |= {"model": "m", "api_key": "${FAKE_KEY}"}
        project.env["FAKE_KEY"] = "test-key"
        project.configure(models={"models": {"m": model}}, servers={"words": plain_server()})
        tests = [
            {"name": name, "prompt": "Echo 7.", "assertions": {"must_call": ["echo"]}}
            for name in ("one", "two")
        ]
        variants = {"renamed": {"tools": {"echo": {"name": "repeat_it"}}}}
        project.suite("words", tests, server="words", variants=variants)
        return project.run("evals", "words", "--model", "m", *arguments)


def call_of(tool: str) -> str:
    return f'<tool_call>\n{{"name": "{tool}", "arguments": {{"n": 7}}}}\n</tool_call>'


@pytest.mark.parametrize("kind", ["chat", "responses", "messages"])
def test_a_call_as_text_is_named_and_what_to_do_is_said_once(project: Project, kind: str) -> None:
    done = run(project, call_of("echo"), kind=kind)
    words = " ".join(done.stdout.split())
    assert done.code == 1
    assert words.count(TOLD) == 2
    assert "from memory" not in words
    assert words.count("--enable-auto-tool-choice") == 1
    assert f"in 2 trials the model wrote a tool call as text. {OFF}" in words
    assert [result.written_call for result in project.log().results] == ["echo", "echo"]


def test_a_call_of_a_tool_that_is_not_offered_is_an_answer(project: Project) -> None:
    done = run(project, call_of("send_mail"))
    assert "answered from memory" in done.stdout
    assert OFF not in done.stdout


def test_under_a_variant_the_name_counts_that_the_model_saw(project: Project) -> None:
    run(project, call_of("repeat_it"), "--variant", "renamed")
    assert {result.written_call for result in project.log().results} == {"echo"}
    run(project, call_of("echo"), "--variant", "renamed")
    assert {result.written_call for result in project.log().results} == {None}


def test_a_comparison_of_variants_does_not_count_a_call_as_text(project: Project) -> None:
    both = "".join(map(call_of, ("echo", "repeat_it")))
    calls = f'[TOOL_CALLS] [{{"name": "echo", "arguments": {{}}}}, {{"name": "repeat_it"}}]{both}'
    run(project, calls, "--variant", "none", "--variant", "renamed")
    compared = project.run("compare", "latest").stdout
    assert "one, two  skipped (a call written as text) → skipped (a call written as" in compared
    assert compared.count("0 judged, 2 skipped: pass rate –") == 2


def test_a_call_in_thinking_that_is_never_closed_is_named(project: Project) -> None:
    done = run(project, f"<think>I need it.\n{call_of('echo')}")
    assert TOLD in " ".join(done.stdout.split())
