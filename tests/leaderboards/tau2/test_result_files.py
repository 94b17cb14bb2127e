from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import UsageError
from harness.leaderboards.tau2.result_files import read_results
from harness.leaderboards.tau2.suite import TAU2
from harness.types import AssistantMessage, Stop, ToolMessage, UserMessage
from tests.leaderboards.tau2.support import GOOD, hears, result, results, says, simulation, task


def read(path: Path, *simulations: dict[str, Any]) -> Any:
    tasks = [task(name) for name in dict.fromkeys(one["task_id"] for one in simulations)]
    return read_results(results(path / "results.json", tasks, simulations))


def test_the_greeting_is_no_reply_and_results_of_one_reply_are_one_message(tmp_path: Path) -> None:
    both = [
        *GOOD[:2],
        says(None, get_order_details={}, modify_user_address={}),
        result("get_order_details", "a"),
        result("modify_user_address", "b", error=True),
        says("Bye."),
        hears("###TRANSFER###"),
    ]
    [one] = read(tmp_path, simulation("1", both)).simulations
    kinds = [type(message) for message in one.transcript.messages]
    assert kinds == [UserMessage, AssistantMessage, ToolMessage, AssistantMessage, UserMessage]
    answers = one.transcript.messages[2].answers
    assert [(answer.text, answer.is_error) for answer in answers] == [("a", False), ("b", True)]
    assert (one.transcript.greeting, one.transcript.answer, one.transcript.replies) == (
        GOOD[0]["content"],
        "Bye.",
        2,
    )


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("user_stop", "user_stop"),
        ("agent_stop", "agent_stop"),
        ("max_steps", "reply_limit"),
        ("too_many_errors", "call_limit"),
        ("timeout", "time_limit"),
        ("agent_error", "premature"),
        ("user_error", "premature"),
        ("context_window_exceeded", "premature"),
        ("unexpected_error", "premature"),
        ("infrastructure_error", "error"),
        ("something_new", "error"),
    ],
)
def test_an_end_is_told_in_our_words(tmp_path: Path, reason: str, stop: Stop) -> None:
    [one] = read(tmp_path, simulation("1", reason=reason)).simulations
    assert (one.transcript.stop, one.transcript.stop_detail) == (stop, reason)
    assert (one.transcript.error is not None) == (stop == "error")


def test_trials_come_in_their_order_whatever_the_files_is(tmp_path: Path) -> None:
    found = read(tmp_path, *(simulation("1", trial=trial) for trial in (2, 0, 1)))
    assert [one.trial for one in found.list_trials("1")] == [0, 1, 2]


def test_a_file_may_be_packed(tmp_path: Path) -> None:
    path = results(tmp_path / "r.json", [task("1")], [simulation("1")])
    path.write_bytes(gzip.compress(path.read_bytes()))
    [(name, recording)] = TAU2.load_recordings(path).items()
    assert name == "someone"
    assert recording.list_cases() == {"retail_1"}
    assert len(recording.get_transcripts("retail_1")) == 1
    assert recording.get_transcripts("airline_1") == []


def test_a_folder_has_the_agents_of_all_its_files(tmp_path: Path) -> None:
    for domain in ("retail", "airline"):
        path = results(tmp_path / f"{domain}.json", [task("1")], [simulation("1")])
        path.write_text(
            path.read_text().replace('"domain_name": "retail"', f'"domain_name": "{domain}"')
        )
    [(name, recording)] = TAU2.load_recordings(tmp_path).items()
    assert (name, recording.list_cases()) == ("someone", {"retail_1", "airline_1"})


def test_two_result_files_of_one_agent_are_two_entrants(tmp_path: Path) -> None:
    for name in ("monday", "tuesday"):
        results(tmp_path / f"{name}.json", [task(name)], [simulation(name)])
    found = TAU2.load_recordings(tmp_path)
    assert {name: recording.list_cases() for name, recording in found.items()} == {
        "someone (monday)": {"retail_monday"},
        "someone (tuesday)": {"retail_tuesday"},
    }


def test_other_files_of_a_folder_are_named_and_left_out(tmp_path: Path) -> None:
    results(tmp_path / "retail.json", [task("1")], [simulation("1")])
    phones = results(tmp_path / "telecom.json", [{"id": "anything"}], [])
    phones.write_text(phones.read_text().replace('"retail"', '"banking"'))
    (tmp_path / "submission.json").write_text("[]")
    [(name, recording)] = TAU2.load_recordings(tmp_path).items()
    assert (name, recording.list_cases()) == ("someone", {"retail_1"})
    told = sorted(recording.notes)
    assert "submission.json is not a result file of tau2-bench" in told[0]
    assert "telecom.json is of the domain 'banking', for which there is no server here" in told[1]
    with pytest.raises(UsageError, match="'banking', for which there is no server here"):
        TAU2.load_recordings(phones)


def test_a_damaged_file_in_a_folder_is_an_error_and_never_left_out(tmp_path: Path) -> None:
    results(tmp_path / "retail.json", [task("1")], [simulation("1")])
    (tmp_path / "torn.json").write_text("{")
    with pytest.raises(UsageError, match=r"torn\.json is not JSON"):
        TAU2.load_recordings(tmp_path)


def test_a_folder_without_files_that_can_be_replayed_is_told(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match="there is no result file of airline or retail or telecom in"
    ):
        TAU2.load_recordings(tmp_path)
    (tmp_path / "notes.json").write_text("{}")
    with pytest.raises(
        UsageError,
        match=r"there is no result file [\s\S]*notes\.json is not a result file of tau2-bench",
    ):
        TAU2.load_recordings(tmp_path)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda whole: whole.pop("info"), "not a result file of tau2-bench"),
        (
            lambda whole: whole["info"].pop("agent_info"),
            "does not name its domain and agent",
        ),
        (lambda whole: whole.pop("tasks"), "is of task 1, which is missing"),
        (lambda whole: whole.update(simulations={}), "simulations is not a list"),
        (lambda whole: whole["simulations"][0].pop("messages") and None, None),
        (
            lambda whole: whole["simulations"][0].pop("termination_reason"),
            "simulations[0] has no 'termination_reason'",
        ),
        (
            lambda whole: whole["simulations"][0]["messages"][1].update(role="system"),
            "messages[1] has the role 'syst",
        ),
        (
            lambda whole: whole["simulations"][0]["messages"][2]["tool_calls"][0].pop("id"),
            "tool_calls[0] has no 'id'",
        ),
        (
            lambda whole: whole["simulations"][0].update(reward_info={"reward": None}),
            "reward is not a number",
        ),
    ],
)
def test_what_is_no_result_file_is_told_with_its_place(
    tmp_path: Path, spoil: Any, message: str | None
) -> None:
    path = results(tmp_path / "r.json", [task("1")], [simulation("1")])
    whole = json.loads(path.read_text())
    spoil(whole)
    path.write_text(json.dumps(whole))
    if message is None:
        assert read_results(path).simulations[0].transcript.messages == ()
        return
    with pytest.raises(UsageError) as caught:
        read_results(path)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "is not JSON"),
        (b"\x1f\x8b torn", "is a damaged archive"),
        (b"[]", "is not a result file of tau2-bench"),
    ],
)
def test_a_damaged_file_is_told(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "r.json"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=message):
        read_results(path)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_results(tmp_path / "none.json")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(list(GOOD[2])), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(st.lists(JSON, max_size=4))
def test_any_messages_are_read_or_refused_in_words(
    tmp_path_factory: pytest.TempPathFactory, messages: Any
) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzzed.json"
    results(path, [task("1")], [{**simulation("1"), "messages": messages}])
    message = ""
    try:
        read_results(path)
    except UsageError as error:
        message = str(error)
    assert not message or message.startswith(str(path))
