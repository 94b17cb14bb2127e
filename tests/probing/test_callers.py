"""Who asks a probe.

The suites' own identities, and what becomes of them when something is wrong.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.json_text import canonical_json
from harness.probing.callers import (
    FLAGS,
    OVERSIZED,
    ProbeCaller,
    build_damaged_callers,
    build_flawed_callers,
    name_callers,
)
from harness.sessions.identity.deliveries.bearer import AGAIN
from harness.types import (
    FLAWS,
    Caller,
    Case,
)

VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(max_size=6), st.lists(st.text(max_size=4))
)
CONTEXTS = st.one_of(
    st.none(), st.dictionaries(st.text(min_size=1, max_size=6), VALUES, max_size=4)
)


def case(user_context: Any = None, identity: str | None = None) -> Case:
    return Case(
        name="c", prompt="p", checks=(), caller=Caller(user_context=user_context, identity=identity)
    )


def callers(**contexts: Any) -> tuple[ProbeCaller, ...]:
    return name_callers(case(context, name) for name, context in contexts.items())


def names(*contexts: Any) -> list[str]:
    return [caller.name for caller in name_callers(map(case, contexts))]


@given(st.lists(CONTEXTS, max_size=8))
def test_every_identity_is_named_once_and_nobody_is_always_among_them(contexts: list[Any]) -> None:
    found = name_callers(map(case, contexts))
    assert len({caller.name for caller in found}) == len(found)
    assert {canonical_json(caller.user_context) for caller in found} == {
        canonical_json(context) for context in [*contexts, None]
    }


def test_an_identity_is_called_what_the_suite_or_its_role_says() -> None:
    assert [caller.name for caller in callers(boss={"role": "admin"})] == ["boss", "anonymous"]
    assert names({"role": "admin"}, {"tier": 3, "scopes": ["a", "b"]}, {}) == [
        "admin",
        "tier=3, scopes=a+b",
        "no attributes",
        "anonymous",
    ]


def test_who_shares_a_role_is_told_apart_by_the_rest() -> None:
    found = names(
        {"role": "manager", "id": "E1"}, {"role": "manager", "id": "E2"}, {"role": "manager"}
    )
    assert found == ["manager (E1)", "manager (E2)", "manager", "anonymous"]


def test_every_attribute_is_damaged_in_every_way() -> None:
    found = {
        caller.name: caller.user_context
        for caller in build_damaged_callers(callers(ann={"role": "user"}))
    }
    assert found == {
        "ann: role is missing": {},
        "ann: role is null": {"role": None},
        "ann: role is empty": {"role": ""},
        "ann: role has another type": {"role": {"value": "user"}},
        "ann: role is unknown": {"role": "harness_unknown"},
        "ann: role is oversized": {"role": OVERSIZED},
        "ann: an unknown attribute": {"role": "user", "harness_unknown": True},
        "ann: flags of an administrator are there that nobody has": {
            "role": "user",
            **dict.fromkeys(FLAGS, True),
        },
    }


def test_somebody_elses_value_comes_beside_ones_own() -> None:
    found = {
        caller.name: caller.user_context
        for caller in build_damaged_callers(callers(a={"role": "x"}, b={"role": "y"}))
    }
    assert found["a: role is there twice"] == {"role": "x", "ROLE": "y"}
    assert found["a: role has two values"] == {"role": ["x", "y"]}
    assert found["b: role has two values"] == {"role": ["y", "x"]}


def test_one_damage_to_several_is_held_against_each_of_them() -> None:
    found = {
        caller.name: caller.bases
        for caller in build_damaged_callers(callers(a={"role": "x"}, b={"role": "y"}))
    }
    assert found["a/b: role is missing"] == ("a", "b")
    assert found["a/b: role is unknown"] == ("a", "b")


def test_the_first_damage_of_everybody_comes_before_the_second_of_anybody() -> None:
    found = build_damaged_callers(callers(a={"role": "x", "id": 1}, b={"team": "y", "id": 2}))
    assert [caller.damage for caller in found[:2]] == ["role is missing", "team is missing"]


@given(st.lists(CONTEXTS, max_size=4))
def test_a_damaged_identity_is_none_of_the_suite_and_asks_once(contexts: list[Any]) -> None:
    own = name_callers(map(case, contexts))
    found = build_damaged_callers(own)
    keys = [canonical_json(caller.user_context) for caller in found]
    assert len(set(keys)) == len(keys)
    assert not set(keys) & {canonical_json(caller.user_context) for caller in own}
    assert all(caller.damage and set(caller.bases) <= {one.name for one in own} for caller in found)
    assert len({caller.name for caller in found}) == len(found)


def test_everybody_with_attributes_shows_every_flawed_token() -> None:
    found = build_flawed_callers(callers(a={"role": "x"}, b={}))
    assert [(caller.bases, caller.credential) for caller in found] == [
        (("a",), flaw) for flaw in FLAWS
    ]


@pytest.mark.parametrize(
    ("value", "other"), [("x", {"value": "x"}), (["x"], {"0": "x"}), (3, [3]), (None, [None])]
)
def test_another_type_is_another_type(value: Any, other: Any) -> None:
    found = {
        caller.damage: caller.user_context
        for caller in build_damaged_callers(callers(a={"k": value}))
    }
    assert found["k has another type"] == {"k": other}


def test_only_in_a_token_is_a_claim_there_twice_to_the_letter_somebody_elses_value_first() -> None:
    own = callers(user={"role": "user"}, admin={"role": "admin"})
    doubled = [
        one.user_context
        for one in build_damaged_callers(own, by_token=True)
        if "claimed twice" in one.name
    ]
    assert [list((context or {}).items()) for context in doubled] == [
        [(f"role{AGAIN}", "admin"), ("role", "user")],
        [(f"role{AGAIN}", "user"), ("role", "admin")],
    ]
    assert not any("claimed twice" in one.name for one in build_damaged_callers(own))


def test_attributes_that_nobody_has_are_added_and_those_that_somebody_has_are_not() -> None:
    own = callers(clerk={"role": "clerk", "groups": ["x"]}, boss={"role": "boss", "Admin": False})
    found = {
        one.damage: one.user_context for one in build_damaged_callers(own) if "clerk" in one.bases
    }
    flags = found["flags of an administrator are there that nobody has"] or {}
    assert flags["is_admin"] is True
    assert "admin" not in flags
    lists = found["lists of roles are there that nobody has, with boss"] or {}
    assert (lists["roles"], lists["groups"]) == (["boss"], ["x"])
