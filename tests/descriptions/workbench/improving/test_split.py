"""The split: the cases behind proposals and the cases that prove them have nothing in common."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from harness.descriptions.workbench.improving.acceptance import (
    case_names,
    group_intents,
    split_intents,
)
from harness.types import Case, Check, Repeats


def case(name: str, prompt: str, tool: str = "find", test: str | None = None, **args: str) -> Case:
    check = Check(kind="must_call", params={"tool": tool, "args": args})
    return Case(name=name, prompt=prompt, checks=(check,), repeats=Repeats(test=test))


def test_questions_that_differ_only_in_an_argument_are_one_intent() -> None:
    [intent] = group_intents(
        [
            case("a", "Show the open orders of Baker.", customer="Baker"),
            case("b", "Show the open orders of Miller, please.", customer="Miller"),
        ]
    )
    assert intent.cases == ("a", "b")


def test_questions_with_nearly_the_same_words_for_one_tool_are_one_intent() -> None:
    near = "late parcels north warehouse Friday"
    alike = [case("a", f"{near}"), case("b", f"{near} morning")]
    assert len(group_intents(alike)) == 1
    assert len(group_intents([case("a", near), case("b", "unpaid bills south office")])) == 2
    assert len(group_intents([case("a", near), case("b", f"{near} morning", tool="other")])) == 2


def test_the_identities_of_one_question_and_what_is_like_any_of_them_stay_together() -> None:
    found = group_intents(
        [
            case("q[admin]", "List salaries of everybody.", test="q"),
            case("other", "Unpaid bills south office"),
            case("q[guest]", "Unpaid bills south office", test="q"),
        ]
    )
    assert [intent.cases for intent in found] == [("q[admin]", "other", "q[guest]")]


def test_two_in_five_intents_of_each_tool_are_kept_back() -> None:
    words = ["alder", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine"]
    cases = [
        case(f"{tool}_{number}", f"{first} {words[number]} {tool}", tool=tool)
        for tool, first in (("one", "red"), ("two", "blue"), ("three", "green"))
        for number in range(10)
    ]
    for seed in range(20):
        parts = split_intents(cases, seed)
        assert len(parts.held_out) == 12
        assert set(Counter(intent.tool for intent in parts.held_out).values()) == {4}
    assert split_intents(cases, 1) == split_intents(cases, 1)
    assert split_intents(cases, 1) != split_intents(cases, 2)


@given(
    st.lists(
        st.tuples(
            st.text("abcd ", min_size=1, max_size=12),
            st.sampled_from(["one", "two"]),
            st.sampled_from([None, "g", "h"]),
        ),
        max_size=25,
    ),
    st.integers(0, 99),
)
def test_every_case_is_on_one_side_alone_whatever_the_suite(
    asked: list[tuple[str, str, str | None]], seed: int
) -> None:
    cases = [case(str(n), prompt, tool, group) for n, (prompt, tool, group) in enumerate(asked)]
    parts = split_intents(cases, seed)
    seen, held_out = case_names(parts.seen), case_names(parts.held_out)
    assert seen | held_out == {one.name for one in cases}
    assert not seen & held_out
    for group in ("g", "h"):
        members = {one.name for one in cases if one.caller.group == group}
        assert not (members & seen and members & held_out)
    said = {one.prompt for one in cases if one.name in seen}
    assert not said & {one.prompt for one in cases if one.name in held_out}
