"""Arms: equal tool lists run once, whichever studies request them."""

from __future__ import annotations

from harness.descriptions.workbench.arms import (
    CLEAN,
    Arm,
    merge_arms,
    select_unrun_arms,
    variant_key,
)
from harness.types import ToolEdit, Variant


def edited(name: str, description: str) -> Variant:
    return Variant(name=name, tools={"find": ToolEdit(description=description)})


def test_two_studies_that_ask_for_the_same_list_share_its_trials() -> None:
    arms = merge_arms([CLEAN, Arm(variant=edited("a", "x")), Arm(variant=edited("b", "x")), CLEAN])
    assert [arm.variant.name if arm.variant else None for arm in arms] == [None, "a"]


def test_a_shared_arm_asks_the_cases_of_all_who_want_it() -> None:
    some = Arm(variant=edited("a", "x"), cases=frozenset({"one"}))
    other = Arm(variant=edited("a", "x"), cases=frozenset({"two"}))
    [joined] = merge_arms([some, other])
    assert joined.has_case("one")
    assert joined.has_case("two")
    assert not joined.has_case("three")
    [whole] = merge_arms([some, Arm(variant=edited("a", "x"))])
    assert whole.has_case("three")


def test_different_lists_of_one_name_get_names_of_their_own() -> None:
    arms = merge_arms([Arm(variant=edited("a", "x")), Arm(variant=edited("a", "y"))])
    assert [arm.variant.name for arm in arms if arm.variant] == ["a", "a (2)"]


def test_what_an_arm_shows_decides_not_what_it_is_called() -> None:
    assert variant_key(edited("a", "x")) == variant_key(edited("b", "x"))
    assert variant_key(edited("a", "x")) != variant_key(edited("a", "y"))
    assert variant_key(None) == CLEAN.key


def test_a_list_that_was_run_on_some_cases_is_run_on_the_others_later() -> None:
    every = frozenset({"one", "two", "three"})
    arm = Arm(variant=edited("a", "x"))
    ran = {arm.key: frozenset({"one"})}
    [later] = select_unrun_arms([arm], ran, every)
    assert later.cases == frozenset({"two", "three"})
    assert (
        select_unrun_arms([Arm(variant=edited("b", "x"), cases=frozenset({"one"}))], ran, every)
        == ()
    )
