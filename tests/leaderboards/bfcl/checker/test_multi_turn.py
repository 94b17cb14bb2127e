from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.leaderboards.bfcl.checker.multi_turn import (
    ExecutedCall,
    MultiTurnCase,
    execute_model_call,
    find_results_fault,
    find_turns_fault,
)
from harness.leaderboards.bfcl.checker.values import Fault
from harness.leaderboards.bfcl.transcript_steps import OutputCall, Step
from tests.leaderboards.bfcl.apis.scenes import TABLES, tree

CONFIG = {
    "GorillaFileSystem": {"root": tree(note="x", docs={})},
    "TicketAPI": {"current_user": "ann"},
}


def judged(
    expected: Sequence[Sequence[str]],
    *turns: Sequence[Step],
    long_context: bool = False,
    data: Any = TABLES,
) -> Fault | None:
    conversation = MultiTurnCase(
        classes=["GorillaFileSystem", "TicketAPI"],
        initial_config=CONFIG,
        expected=expected,
        long_context=long_context,
        data=data,
    )
    return find_turns_fault(conversation, turns)


def verdict(
    expected: Sequence[Sequence[str]], *turns: Sequence[Step], long_context: bool = False
) -> str | None:
    fault = judged(expected, *turns, long_context=long_context)
    return fault.error_type if fault else None


def step(*calls: tuple[str, dict[str, Any]]) -> Step:
    return Step(calls=tuple(OutputCall(name, arguments) for name, arguments in calls))


def did(name: str, **arguments: Any) -> Step:
    return step((name, arguments))


WORDS = Step(unreadable="words", text="Done.")
STATE = "multi_turn:instance_state_mismatch"
RESULTS = "multi_turn:execution_response_mismatch"
EMPTY = "multi_turn:empty_turn_model_response"
BROKEN_OFF = "multi_turn:force_terminated"


def test_the_expected_calls_are_right_in_as_many_steps_as_one_likes() -> None:
    expected = [["mkdir('a')", "touch('b')"], ["ls()"]]
    one = step(("mkdir", {"dir_name": "a"}), ("touch", {"file_name": "b"}))
    assert verdict(expected, [one], [did("ls")]) is None
    several = [did("touch", file_name="b"), WORDS, did("mkdir", dir_name="a"), WORDS]
    assert verdict([expected[0]], several) is None


def test_more_than_is_expected_is_fine_as_long_as_the_state_is_right() -> None:
    extra = [
        did("pwd"),
        did("mkdir", dir_name="a"),
        did("touch", file_name="b"),
        did("rm", file_name="b"),
    ]
    assert verdict([["mkdir('a')"]], extra) is None
    assert verdict([["mkdir('a')"]], extra[:-1]) == STATE


@pytest.mark.parametrize("turns", [0, 1, 3])
def test_a_conversation_of_another_length_was_broken_off(turns: int) -> None:
    assert verdict([["ls()"], ["ls()"]], *[[did("ls")]] * turns) == BROKEN_OFF


def test_a_turn_that_expects_calls_needs_one() -> None:
    assert verdict([["ls()"]], []) == EMPTY
    assert verdict([["ls()"]], [WORDS, Step(), Step(unreadable="misshapen")]) == EMPTY
    assert verdict([["ls()"]], [WORDS, did("ls")]) is None


def test_a_turn_without_expected_calls_is_executed_and_not_judged() -> None:
    strays = [did("mkdir", dir_name="stray")]
    assert verdict([[]], strays) is None
    assert verdict([[]], []) is None
    assert verdict([[], ["pwd()"]], strays, [did("pwd")]) == STATE
    assert verdict([[], ["mkdir('stray')"]], strays, [did("pwd")]) is None
    assert verdict([[], ["pwd()"]], [did("pwd")], [did("ls")]) is None


def test_every_turn_is_judged_and_the_first_fault_counts() -> None:
    expected = [["touch('a')"], ["rm('a')"]]
    assert verdict(expected, [did("pwd")], [did("pwd")]) == STATE
    skipped = [did("touch", file_name="a"), did("rm", file_name="a")]
    assert verdict(expected, skipped, skipped) == STATE
    assert verdict(expected, [did("touch", file_name="a")], [did("rm", file_name="a")]) is None


def test_the_state_of_every_class_counts() -> None:
    ticket = did("create_ticket", title="T")
    assert verdict([["ls()"]], [did("ls"), ticket]) == STATE
    assert verdict([["ls()", "create_ticket(title='T')"]], [did("ls"), ticket]) is None


def test_what_the_apis_keep_for_themselves_is_not_compared() -> None:
    assert verdict([["ls()"]], [did("ls"), did("cd", folder="docs")]) is None


def test_a_result_counts_in_whatever_turn_it_came() -> None:
    expected = [["pwd()"], ["cat('note')"]]
    early = [did("pwd"), did("cat", file_name="note")]
    assert verdict(expected, early, [did("ls")]) is None
    assert verdict(expected, [did("pwd")], [did("ls")]) == RESULTS


def test_the_order_of_results_is_free_and_each_stands_for_one() -> None:
    assert verdict([["pwd()", "ls()"]], [did("ls"), did("pwd")]) is None
    assert verdict([["ls()", "ls()"]], [did("ls")]) == RESULTS
    assert verdict([["ls()", "ls()"]], [did("ls"), did("pwd"), did("ls")]) is None


def test_a_result_that_one_turn_used_counts_again_in_the_next() -> None:
    assert verdict([["ls()"], ["ls()"]], [did("ls")], [did("pwd")]) is None


def test_a_call_that_fails_for_both_is_right() -> None:
    assert verdict([["cat('nothing')"]], [did("cat", file_name="nothing")]) is None
    assert verdict([["fly(to='x')"]], [did("fly", to="y")]) is None


def test_a_call_that_cannot_be_executed_is_a_result_and_no_crash() -> None:
    odd = [
        did("cat", **{"file name": "x"}),
        did("import os"),
        did("ls", a=float("nan")),
        did("cd", folder=None),
    ]
    assert verdict([["pwd()"]], [*odd, did("pwd")]) is None


def test_space_before_a_parenthesis_is_lost_in_what_the_model_writes() -> None:
    expected = [["echo(content='draft(old)', file_name='note')"]]
    assert verdict(expected, [did("echo", content="draft (old)", file_name="note")]) is None
    assert verdict(expected, [did("echo", content="draft  old", file_name="note")]) == STATE


def test_long_context_is_the_same_for_both_sides() -> None:
    assert verdict([["cat('note')"]], [did("cat", file_name="note")], long_context=True) is None
    assert verdict([["rm('note')"]], [did("cat", file_name="note")], long_context=True) == STATE


def test_a_fault_says_where_and_what() -> None:
    state = judged([["echo('y', 'note')"]], [did("echo", content="z", file_name="note")])
    assert state is not None
    assert (
        state.message
        == "after turn 1, GorillaFileSystem.root['note']['content'] is 'z', expected 'y'"
    )
    short = judged([["ls()"], ["ls()"]], [did("ls")])
    assert short is not None
    assert short.message == "the conversation has 1 turns instead of 2: it was broken off"
    empty = judged([["ls()"], ["ls()"]], [did("ls")], [WORDS])
    assert empty is not None
    assert empty.message == "turn 2 expects calls, and none was made"
    results = judged([["ls()"], ["cat('note')"]], [did("ls")], [did("ls")])
    assert results is not None
    assert (
        results.message
        == 'no call up to turn 2 returned what cat(\'note\') returns: {"file_content": "x"}'
    )


RESULT_LISTS = st.lists(st.sampled_from("abc"), max_size=6)


@given(RESULT_LISTS, RESULT_LISTS)
def test_results_are_compared_as_bags(found: list[str], wanted: list[str]) -> None:
    fault = find_results_fault(1, found, [ExecutedCall("call", result) for result in wanted])
    assert (fault is None) == all(found.count(one) >= wanted.count(one) for one in wanted)


CALLS = {
    "pwd()": did("pwd"),
    "mkdir(dir_name='a')": did("mkdir", dir_name="a"),
    "cd(folder='docs')": did("cd", folder="docs"),
    "cd(folder='..')": did("cd", folder=".."),
    "mv(source='note',destination='docs')": did("mv", source="note", destination="docs"),
    "create_ticket(title='T')": did("create_ticket", title="T"),
    "logout()": did("logout"),
}


@given(st.lists(st.lists(st.sampled_from(sorted(CALLS)), max_size=5), max_size=5))
def test_doing_exactly_what_is_expected_is_always_right(expected: list[list[str]]) -> None:
    assert verdict(expected, *[[CALLS[text] for text in turn] for turn in expected]) is None


def test_what_is_no_call_leaves_the_words_that_say_so_and_changes_nothing() -> None:
    conversation = MultiTurnCase(
        classes=["GorillaFileSystem"],
        initial_config=CONFIG,
        expected=[],
        long_context=False,
        data=TABLES,
    )
    instances = conversation.create_instances()
    assert execute_model_call(instances, OutputCall("import os", {})).startswith(
        "Error during execution: "
    )
    assert execute_model_call(instances, OutputCall("ls", {})) == execute_model_call(
        conversation.create_instances(), OutputCall("ls", {})
    )
