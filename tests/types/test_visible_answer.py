"""Whoever is given an answer is given what a reader sees of it; thinking is kept apart."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import ModelError
from harness.judging.checks.judge.faithfulness import describe_conversation as shown_to_judges
from harness.judging.checks.judge.prompt import SCORE, NoVerdict, read_verdict
from harness.judging.checks.python_run import build_python_run
from harness.judging.log_judging import build_view
from harness.models.model import open_model
from harness.reports.formats.html_report.detail import trial_detail
from harness.reports.formats.transcripts import trial_text
from harness.reports.telemetry.spans import reply_json
from harness.runner.model_conversation import ModelConversation
from harness.runner.users import build_speaker
from harness.types import (
    AssistantMessage,
    Message,
    Reply,
    SimulatedUser,
    ToolList,
    Transcript,
    UserMessage,
)
from tests.end_to_end.harness_process import Project, plain_server
from tests.fake_provider import FakeProvider, raw, say
from tests.judging.checks.scenes import judge, scene
from tests.models.support import APIS, Api, spec_for
from tests.reports.sample_logs import a_log, a_run, written
from tests.support import MemorySession, ScriptedModel, a_case, says
from tests.types.test_thinking import MARKINGS, Marking

THOUGHT = "Zanzibar 4711: I cannot help with that"
SEEN = "It is on its way."


def told(text: str) -> Transcript:
    """Return the conversation of a model that replies ``text``."""
    talk = ModelConversation(a_case(), ScriptedModel(says(text)), MemorySession())
    anyio.run(talk.run)
    return talk.build_transcript()


def heard_by_the_user(said: Transcript) -> str:
    """Return what a model that plays the user is sent."""
    text = said.messages[-1].reply.raw_text  # type: ignore[union-attr]
    player = ScriptedModel(says("Where is it?"), says("###STOP###"))
    user = SimulatedUser(scenario="You want your order.")
    voice = build_speaker(user, player, "suite::case#1")
    talk = ModelConversation(
        a_case(user=user), ScriptedModel(says(text)), MemorySession(), speaker=voice
    )
    anyio.run(talk.run)
    heard = player.asked[-1][-1]
    assert isinstance(heard, UserMessage)
    return heard.text


def said_by_a_program(said: Transcript) -> str:
    """Return what a program that plays the user says, where it hands on a model's reply."""
    text = said.messages[-1].reply.raw_text  # type: ignore[union-attr]
    user = SimulatedUser(code=lambda _: text, max_turns=1)
    agent = ScriptedModel(says("Hello."))
    voice = build_speaker(user, None, "suite::case#1")
    talk = ModelConversation(a_case(user=user), agent, MemorySession(), speaker=voice)
    anyio.run(talk.run)
    heard = agent.asked[-1][-1]
    assert isinstance(heard, UserMessage)
    return heard.text


def verdict(kind: str, value: Any, said: Transcript) -> str:
    evidence = scene(answer=said.answer)
    return judge(kind, value, replace(evidence, transcript=said)).verdict


CONSUMERS: dict[str, Callable[[Transcript], bool]] = {
    "answer_contains": lambda said: verdict("answer_contains", ["Zanzibar"], said) == "failed",
    "answer_not_contains": lambda said: (
        verdict("answer_not_contains", ["Zanzibar"], said) == "passed"
    ),
    "answer_equals": lambda said: verdict("answer_equals", SEEN, said) == "passed",
    "answer_number": lambda said: verdict("answer_number", 4711, said) == "failed",
    "answer_matches": lambda said: verdict("answer_matches", "Zan", said) == "failed",
    "refuses": lambda said: verdict("refuses", True, said) != "passed",
    "the judge": lambda said: shown_to_judges(scene(answer=said.answer))["answer"] == SEEN,
    "the search for leaks": lambda said: build_view(a_run("case"), said, {}, {}).answer == SEEN,
    "Python": lambda said: build_python_run(said).answer == SEEN,
    "the model, of a simulated user": lambda said: said_by_a_program(said) == SEEN,
    "the simulated user": lambda said: heard_by_the_user(said) == SEEN,
}


@pytest.mark.parametrize("consumer", CONSUMERS)
@given(marking=st.sampled_from(MARKINGS))
def test_a_consumer_is_given_the_visible_answer(consumer: str, marking: Marking) -> None:
    said = told(f"{marking.before}{THOUGHT}{marking.after}{SEEN}{marking.end}")
    assert CONSUMERS[consumer](said)


@given(marking=st.sampled_from(MARKINGS))
def test_people_see_the_thinking_apart_from_the_answer(marking: Marking) -> None:
    said = told(f"{marking.before}{THOUGHT}{marking.after}{SEEN}{marking.end}")
    assert trial_text(a_run("case"), said).splitlines()[3:5] == [
        f"thinking  {THOUGHT}",
        f"assistant {SEEN}",
    ]
    steps = trial_detail(a_run("case"), said)["steps"]
    assert [step.get("thinking") or step["text"] for step in steps[1:]] == [THOUGHT, SEEN]
    reply = said.messages[-1]
    assert isinstance(reply, AssistantMessage)
    parts = json.loads(reply_json(reply.reply))[0]["parts"]
    assert [(part["type"], part["content"]) for part in parts] == [
        ("reasoning", THOUGHT),
        ("text", SEEN),
    ]


@pytest.mark.parametrize("form", ["json", "jsonl", "junit", "markdown", "csv", "github"])
def test_reports_hold_the_answer_without_the_thinking(form: str, tmp_path: Path) -> None:
    said = told(f"<think>{THOUGHT}</think>{SEEN}")
    failed = judge("answer_contains", ["lost"], replace(scene(), transcript=said))
    log = a_log(tmp_path, [(a_run("case", "failed", checks=(failed,)), said)])
    report = written(log, form)
    assert "Zanzibar" not in report
    assert SEEN in report or form in ("jsonl", "csv", "github")
    assert log.read_transcript(a_run("case").key) == said  # the thinking stays in the log


# ── The endpoints ────────────────────────────────────────────────────────────────────────────

CHAT: tuple[dict[str, Any], ...] = (
    {"content": f"<think>{THOUGHT}</think>{SEEN}"},
    {"content": SEEN, "reasoning_content": THOUGHT},
    {"content": SEEN, "reasoning": THOUGHT},
    {
        "content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]},
            {"type": "text", "text": SEEN},
        ]
    },
    {
        "content": [
            {"type": "text", "text": THOUGHT, "thought": True},
            {"type": "text", "text": SEEN},
        ]
    },
)


async def both_replies(api: Api, body: dict[str, Any]) -> tuple[Reply, Any]:
    """Return the reply read from ``body``, and what the next request sends back of it."""
    with FakeProvider([raw(body), say("Bye.")]) as provider:
        model = open_model(spec_for(api, provider.url))
        asked = UserMessage(text="Where is it?")
        try:
            reply = await model.answer([asked], ToolList(tools=()), None)
            more: list[Message] = [
                asked,
                AssistantMessage(reply=reply),
                UserMessage(text="And now?"),
            ]
            with suppress(ModelError):  # the provider knows no fields of others
                await model.answer(more, ToolList(tools=()), None)
        finally:
            await model.aclose()
        return reply, provider.journal[-1].body


@pytest.mark.parametrize("message", CHAT)
def test_a_chat_reply_is_divided_and_sent_back_as_it_came(message: dict[str, Any]) -> None:
    said = {"role": "assistant", **message}
    choice = {"index": 0, "finish_reason": "stop", "message": said}
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    reply, sent = anyio.run(both_replies, "chat", body)
    assert (reply.text, reply.thinking) == (SEEN, THOUGHT)
    assert sent["messages"][-2] == said


def test_thinking_of_the_other_apis_is_divided_and_sent_back() -> None:
    blocks = [
        {"type": "thinking", "thinking": THOUGHT, "signature": "c2ln"},
        {"type": "text", "text": SEEN},
    ]
    body: dict[str, Any] = {
        "id": "m", "type": "message", "role": "assistant", "model": "m", "content": blocks,
        "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    reply, sent = anyio.run(both_replies, "messages", body)
    assert (reply.text, reply.thinking) == (SEEN, THOUGHT)
    assert [block["type"] for block in sent["messages"][-2]["content"]] == ["thinking", "text"]
    part = {"type": "output_text", "text": SEEN, "annotations": []}
    items = [
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": THOUGHT}]},
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [part],
        },
    ]
    body = {"id": "r", "object": "response", "model": "m", "status": "completed", "output": items}
    reply, sent = anyio.run(both_replies, "responses", body)
    assert (reply.text, reply.thinking) == (SEEN, THOUGHT)
    assert sent["input"][1:3] == items


# ── A reply that holds nothing else ──────────────────────────────────────────────────────────


@pytest.mark.parametrize("api", APIS)
def test_a_reply_of_thinking_alone_is_no_answer_and_the_cause_is_named(
    api: Api, project: Project
) -> None:
    with FakeProvider([say(f"<think>{THOUGHT}")]) as provider:
        base_url = provider.url + ("" if api == "messages" else "/v1")
        kind = "anthropic" if api == "messages" else "openai"
        more = {"api": api} if kind == "openai" else {}
        model = {"type": kind, "model": "m", "base_url": base_url, "api_key": "${FAKE_KEY}", **more}
        project.env["FAKE_KEY"] = "test-key"
        project.configure(models={"models": {"m": model}}, servers={"words": plain_server()})
        checks = {"answer_not_contains": ["Oslo"]}
        project.suite(
            "words", [{"name": "t", "prompt": "Hi", "assertions": checks}], server="words"
        )
        done = project.run("evals", "words", "--model", "m", "--debug")
    assert done.code == 1, done.stderr
    assert "the reply holds only thinking" in done.stdout + done.stderr
    assert f"thinking  {THOUGHT}" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("reply", "cause"),
    [
        (Reply(text="<think>It is good."), "its reply holds only thinking"),
        (Reply(thinking="It is good."), "its reply holds only thinking"),
        (Reply(), "its reply was empty"),
        (Reply(text="0.9"), "it answered in text, though a tool was offered"),
        (Reply(text="<think>a", stop="max_tokens"), "its reply was cut at its token limit"),
    ],
)
def test_a_judge_without_a_verdict_is_told_why(reply: Reply, cause: str) -> None:
    with pytest.raises(NoVerdict) as caught:
        read_verdict(reply, SCORE)
    assert cause in str(caught.value)
