"""``use_prompt:``: a prompt of the server begins the conversation, over each transport and era."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
import yaml

import harness
from harness.judging.log_judging import build_view
from harness.judging.policy.leaks import find_leaks
from harness.reports.formats.html_report.detail import live_steps
from harness.reports.formats.transcripts import write_transcripts
from harness.reports.writers import WRITERS
from harness.runlog import read_log
from harness.types import (
    AssistantMessage,
    Caller,
    Case,
    CaseFacts,
    Limits,
    Media,
    PromptGet,
    PromptMessage,
    PromptUse,
    ToolCall,
    Transcript,
    TrialResult,
    UserMessage,
)
from tests.runner.content.test_context import SUITE, WAYS, build_spec, checked, converse, judge
from tests.support import a_case

REVIEW = PromptUse(name="review", arguments={"who": "EMP_0031"})


def using(name: str = "review", *, prompt: str | None = None, **arguments: str) -> Case:
    """Return a case that uses a prompt; without words, as the suite's reader makes it."""
    use = PromptUse(name=name, arguments=arguments)
    words = str(use) if prompt is None else prompt
    return a_case(prompt=words, caller=Caller(use_prompt=use), limits=Limits(timeout_s=5))


@WAYS
@pytest.mark.anyio
async def test_the_messages_of_a_prompt_begin_the_conversation_in_their_roles(
    over: str, protocol: str
) -> None:
    checks = (*checked("must_read", "hr://handbook"), *checked("resource_contains", "30 days"))
    alone = a_case(prompt=str(REVIEW), caller=Caller(use_prompt=REVIEW), checks=checks)
    followed = using(prompt="Go on.", who="EMP_0031")
    done = await converse([(alone, "guest"), (followed, "guest")], build_spec(over, protocol))
    given = [
        [
            (one.role, one.text if isinstance(one, UserMessage) else one.reply.text)
            for one in model.asked[0]
            if isinstance(one, UserMessage | AssistantMessage)
        ]
        for _, model in done
    ]
    prompt = [
        ("user", "Who are you?"),
        ("assistant", "The librarian."),
        ("user", "[resource hr://handbook]\nLeave: 30 days."),
        ("user", "[image image/png, 12 bytes]"),
        ("user", "Review the leave of EMP_0031."),
    ]
    assert given == [prompt, [*prompt, ("user", "Go on.")]]
    (_, _, _, picture, _) = done[0][1].asked[0]
    assert isinstance(picture, UserMessage)
    assert [(one.mime, one.given) for one in picture.media] == [("image/png", True)]
    said, _ = done[0]
    assert said.used_prompt is not None
    assert (said.used_prompt.use, said.used_prompt.outcome) == (REVIEW, "ok")
    # The record keeps the server's words apart from the user's, and from the model's replies.
    assert [one.text for one in said.messages if isinstance(one, UserMessage)] == [
        "/review who=EMP_0031"
    ]
    assert len(said.all_replies) == 1
    assert [one[1] for one in await judge(alone, said)] == ["passed", "passed"]


@pytest.mark.anyio
async def test_a_prompt_that_cannot_be_used_ends_the_trial_before_a_model_is_asked() -> None:
    expected = {
        "reviews": (
            "configuration",
            "the server has no prompt 'reviews'. Did you mean 'review'?",
        ),
        "pay": (
            "configuration",
            "the server has no prompt 'pay'. It offers review, greeting, waits, broken, kept.",
        ),
        "review": (
            "configuration",
            "the prompt 'review' needs the argument 'who'. Write 'arguments: {who: …}'.",
        ),
        "greeting": (
            "configuration",
            (
                "the prompt 'greeting' does not end with words of the user. "
                "Add what the user says then: 'prompt: …'."
            ),
        ),
        "kept": (
            "server",
            "the prompt kept could not be got: Access denied: requires role 'admin' (code -32003)",
        ),
        "broken": (
            "server",
            "the prompt broken could not be got: Internal server error (code -32603)",
        ),
    }
    wrong = using("review", who="a", ton="b")
    late = a_case(caller=Caller(use_prompt=PromptUse(name="waits")), limits=Limits(timeout_s=0.5))
    cases = [*map(using, expected), wrong, late, using("greeting", prompt="Hello.")]
    done = await converse([(case, "guest") for case in cases], build_spec())
    *failed, (answered, _) = done
    errors = [(said.error.kind, said.error.message) for said, _ in failed if said.error]
    assert errors[: len(expected)] == [*expected.values()]
    assert errors[len(expected) :] == [
        ("configuration", "the prompt 'review' has no argument 'ton'. Did you mean 'tone'?"),
        ("server", "the server did not give the prompt waits within the case's 0.5 s"),
    ]
    assert not any(model.asked for _, model in failed)
    assert answered.error is None


def test_a_withheld_value_that_a_prompt_gives_away_is_a_leak() -> None:
    address = "ada.lovelace@corp.example"

    def view_of(role: str, seen: dict[str, str], text: str) -> object:
        call = ToolCall(
            tool="get_pay", arguments={"id": "E1"}, outcome="ok", reply=1, structured=seen
        )
        got = PromptGet(use=REVIEW, messages=(PromptMessage(role="user", text=text),))
        said = Transcript(messages=(UserMessage(text="Hi", opening=got),), tool_calls=(call,))
        facts = CaseFacts(name="c", identity=role, group="c", user_context={"role": role})
        result = TrialResult(key=role, suite="s", case=facts, model="m", trial=1, status="passed")
        return build_view(result, said, {}, {})

    admin = view_of("admin", {"id": "E1", "email": address}, "Review.")
    (leak,) = find_leaks([admin, view_of("guest", {"id": "E1"}, f"Write to {address}.")])  # type: ignore[list-item]
    assert (leak.identity, leak.place) == ("guest", "the prompt review")


def test_what_a_model_is_not_given_of_a_prompt_is_among_the_media_of_its_message() -> None:
    picture = Media(words="image image/png, 12 bytes")
    got = PromptGet(use=REVIEW, messages=(PromptMessage(role="user", media=(picture,)),))
    assert UserMessage(text="", opening=got).all_media == (picture,)


@pytest.mark.slow
def test_a_prompt_stands_in_the_log_and_in_every_report_of_conversations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    use = {"name": "review", "arguments": {"who": "EMP_0031"}}
    tests = [
        {"name": "leave", "use_prompt": use, "assertions": {"must_read": "hr://handbook"}},
        {"name": "gone", "use_prompt": "reviews", "assertions": {"must_read": "hr://handbook"}},
    ]
    (tmp_path / "library.yml").write_text(yaml.safe_dump(SUITE | {"tests": tests}, sort_keys=False))
    report = harness.run("library.yml", model="lexical")
    leave, gone = report.results
    assert (leave.status, gone.status) == ("passed", "error")
    (path,) = tmp_path.rglob("log.jsonl")
    log = read_log(path)
    written, debug = StringIO(), StringIO()
    WRITERS.get("json").write(report, log, written)
    write_transcripts(report, log, debug)
    said = log.read_transcript(leave.key)
    assert said is not None
    lines = "prompt    /review who=EMP_0031 → ok\n    user: Who are you?\n    assistant: The libra"
    assert lines in debug.getvalue()
    assert "user      /review" not in debug.getvalue()
    steps = [step["text"] for step in live_steps(said) if "text" in step]
    assert steps[0].startswith("The server's prompt /review who=EMP_0031 → ok\nuser: Who are you?")
    got = json.loads(written.getvalue())["result"]["tests"][0]["details"]["use_prompt"]
    assert (got["name"], got["arguments"], got["outcome"]) == ("review", use["arguments"], "ok")
    assert [one["role"] for one in got["messages"]] == ["user", "assistant", *["user"] * 3]
    # A run of a recorded one finds its requests, although the record keeps the prompt apart.
    again = harness.run("library.yml", model=f"replay:{path.parent}", pattern="leave")
    assert [one.status for one in again.results] == ["passed"]
