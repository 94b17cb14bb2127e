"""Arms: equal tool lists run once, whichever studies request them."""

from __future__ import annotations

from harness.descriptions.workbench.arms import CLEAN, Arm, distinct, key_of, not_yet_run
from harness.types import ToolEdit, Variant


def edited(name: str, description: str) -> Variant:
    return Variant(name=name, tools={"find": ToolEdit(description=description)})


def test_two_studies_that_ask_for_the_same_list_share_its_trials() -> None:
    arms = distinct([CLEAN, Arm(variant=edited("a", "x")), Arm(variant=edited("b", "x")), CLEAN])
    assert [arm.variant.name if arm.variant else None for arm in arms] == [None, "a"]


def test_a_shared_arm_asks_the_cases_of_all_who_want_it() -> None:
    some = Arm(variant=edited("a", "x"), cases=frozenset({"one"}))
    other = Arm(variant=edited("a", "x"), cases=frozenset({"two"}))
    [joined] = distinct([some, other])
    assert joined.asks("one")
    assert joined.asks("two")
    assert not joined.asks("three")
    [whole] = distinct([some, Arm(variant=edited("a", "x"))])
    assert whole.asks("three")


def test_different_lists_of_one_name_get_names_of_their_own() -> None:
    arms = distinct([Arm(variant=edited("a", "x")), Arm(variant=edited("a", "y"))])
    assert [arm.variant.name for arm in arms if arm.variant] == ["a", "a (2)"]


def test_what_an_arm_shows_decides_not_what_it_is_called() -> None:
    assert key_of(edited("a", "x")) == key_of(edited("b", "x"))
    assert key_of(edited("a", "x")) != key_of(edited("a", "y"))
    assert key_of(None) == CLEAN.key


def test_a_list_that_was_run_on_some_cases_is_run_on_the_others_later() -> None:
    every = frozenset({"one", "two", "three"})
    arm = Arm(variant=edited("a", "x"))
    ran = {arm.key: frozenset({"one"})}
    [later] = not_yet_run([arm], ran, every)
    assert later.cases == frozenset({"two", "three"})
    assert not_yet_run([Arm(variant=edited("b", "x"), cases=frozenset({"one"}))], ran, every) == ()
