"""Identities that only look like somebody."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.json_text import canonical_json
from harness.probing.callers import ProbeCaller, build_damaged_callers, build_lookalike_callers

ROLES = st.text(min_size=1, max_size=12)


@given(st.lists(st.fixed_dictionaries({"role": ROLES, "name": ROLES}), min_size=1, max_size=4))
def test_nobody_that_only_looks_like_somebody_is_one_of_the_suites_own(
    contexts: list[dict[str, str]],
) -> None:
    callers = [
        ProbeCaller(name=str(place), user_context=context) for place, context in enumerate(contexts)
    ]
    found = build_lookalike_callers(callers)
    own = {canonical_json(caller.user_context) for caller in callers}
    keys = [canonical_json(one.user_context) for one in found]
    assert not own & set(keys)
    assert len(keys) == len(set(keys))
    unknown = {caller.name for caller in build_damaged_callers(callers)}
    assert all(set(one.bases) <= unknown for one in found)


def test_a_role_is_imitated_by_its_beginning_its_end_its_letters_its_number_and_by_wildcards() -> (
    None
):
    [caller] = [ProbeCaller(name="ann", user_context={"role": "admin"})]
    found = [(one.user_context or {})["role"] for one in build_lookalike_callers([caller])]
    assert found == [
        "ADMIN",
        "\uff41\uff44\uff4d\uff49\uff4e",
        " admin ",
        "0",
        "1",
        "not_admin",
        "admin_not",
        "not_admin_not",
        "harness_unknown,admin",
        "admin,harness_unknown",
        "admi",
        "\u0430dm\u0456n",
        "a\u200bdmin",
        "*",
        "%",
        "admin' OR '1'='1",
    ]
    assert {one.bases for one in build_lookalike_callers([caller])} == {("ann: role is unknown",)}


@pytest.mark.parametrize(
    ("name", "value", "absent"),
    [
        ("email", "ann@example.org", "ANN@EXAMPLE.ORG"),
        ("scope", "read write", " read write "),
        ("role", "7", "7"),
    ],
)
def test_a_spelling_that_means_the_same_by_convention_only_looks_like_nothing(
    name: str, value: str, absent: str
) -> None:
    [caller] = [ProbeCaller(name="ann", user_context={name: value})]
    assert absent not in [
        (one.user_context or {})[name] for one in build_lookalike_callers([caller])
    ]


def test_the_first_imitation_of_each_attribute_comes_before_the_second_of_any() -> None:
    [caller] = [ProbeCaller(name="ann", user_context={"role": "admin", "ward": "north"})]
    found = [one.damage or "" for one in build_lookalike_callers([caller])]
    assert [damage.split()[0] for damage in found[:4]] == ["role", "ward", "role", "ward"]
