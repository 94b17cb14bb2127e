"""Content that a model cannot be given is said in its trial, and changes no verdict."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.judging.trial import judge_trial
from harness.judging.trial_checks import unseen_warnings
from harness.types import AgentFacts, Case, CheckResult, Media, ToolCall, Transcript, Trial

PASSED = CheckResult(kind="k", label="l", verdict="passed")
TRIAL = Trial(suite="s", case=Case(name="c", prompt="p", checks=()), model="m", number=1, key="k")
Kinds = st.lists(st.sampled_from(["image image/png, 4 kB", "audio of unknown type, 1 kB"]))


def described(*words: str) -> tuple[Media, ...]:
    return tuple(Media(words=word) for word in words)


@given(st.lists(Kinds))
def test_each_call_whose_content_the_model_was_not_given_is_named(calls: list[list[str]]) -> None:
    made = tuple(
        ToolCall(
            tool=f"tool_{number}", arguments={}, outcome="ok", reply=1, media=described(*kinds)
        )
        for number, kinds in enumerate(calls)
    )
    run = judge_trial(TRIAL, Transcript(answer="a", tool_calls=made), [PASSED])
    said = [check for check in run.checks if check.kind == "unseen_content"]
    assert run.status == "passed"
    assert [check.actual for check in said] == [list(kinds) for kinds in calls if kinds]
    assert all(kind in check.explanation for check in said for kind in check.actual)


def test_an_agent_gets_the_content_from_the_server() -> None:
    call = ToolCall(
        tool="look", arguments={}, outcome="ok", reply=1, media=described("image image/png, 4 kB")
    )
    agent = AgentFacts()
    assert list(unseen_warnings(Transcript(tool_calls=(call,), agent=agent))) == []
