"""The claims of a token, by which a server knows a user."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import UsageError
from harness.sessions.identity.deliveries.bearer import AGAIN, BearerDelivery, build_claims
from harness.sessions.identity.tokens import SigningKey
from harness.types import RESERVED_CLAIMS, JsonObject

USER = {"name": "Zoë", "role": "admin", "roles": ["a", "b"], "level": 3, "chief": None}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def mapped(user: JsonObject = USER, **claims: object) -> JsonObject:
    found = build_claims(BearerDelivery(claims={"sub": "x", **claims}), user)
    return {name: value for name, value in found.items() if name != "sub"}


def test_each_attribute_is_a_claim_of_its_own_name_and_keeps_its_type() -> None:
    assert build_claims(BearerDelivery(), USER) == {**USER, "sub": "Zoë"}


@pytest.mark.parametrize(
    ("user", "subject"),
    [
        ({"sub": "s", "user_id": "u", "username": "n", "name": "N"}, "s"),
        ({"user_id": 7, "username": "n", "name": "N"}, "7"),
        ({"username": "n", "name": "N"}, "n"),
        ({"sub": None, "name": "N"}, "N"),
        ({"sub": "", "name": "N"}, "N"),
    ],
)
def test_the_subject_is_the_most_telling_name(user: JsonObject, subject: str) -> None:
    assert build_claims(BearerDelivery(), user)["sub"] == subject


def test_users_without_a_name_have_the_same_subject_exactly_if_they_are_equal() -> None:
    identity = BearerDelivery()
    one, same, other = ({"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 1})
    subjects = [build_claims(identity, user)["sub"] for user in (one, same, other)]
    assert subjects[0] == subjects[1] != subjects[2]


def test_a_template_alone_is_the_attribute_itself_and_others_are_text() -> None:
    assert mapped(r="{roles}", n="{level}", t="{name}-{level}", fixed="acme", flag=True) == {
        "r": ["a", "b"],
        "n": 3,
        "t": "Zoë-3",
        "fixed": "acme",
        "flag": True,
    }


def test_dots_lead_into_a_claim_and_a_url_is_a_name() -> None:
    claims: JsonObject = {
        "realm_access.roles": "{roles}",
        "realm_access.level": "{level}",
        "https://a.b/role": "{role}",
    }
    assert mapped(**claims) == {
        "realm_access": {"roles": ["a", "b"], "level": 3},
        "https://a.b/role": "admin",
    }


def test_templates_stand_anywhere_in_json_and_what_is_missing_is_left_out() -> None:
    assert mapped(
        groups=["{role}", "{nobody}", "all"],
        org={"chief": "{chief}", "of": "{role}"},
        gone="{nobody}",
    ) == {
        "groups": ["admin", "all"],
        "org": {"of": "admin"},
    }


def test_only_the_claims_that_were_asked_for_are_made() -> None:
    assert set(build_claims(BearerDelivery(claims={"role": "{role}"}), USER)) == {
        "role",
        "sub",
    }


def test_the_scope_is_one_text_and_a_missing_attribute_leaves_it_out() -> None:
    assert build_claims(BearerDelivery(scope="mcp:read {roles}"), USER)["scope"] == "mcp:read a b"
    assert "scope" not in build_claims(BearerDelivery(scope="{nobody}"), USER)


@pytest.mark.parametrize("name", RESERVED_CLAIMS)
def test_a_user_cannot_become_a_claim_of_the_issuer_unless_it_is_mapped_to_another(
    name: str,
) -> None:
    with pytest.raises(UsageError, match=f"has '{name}', a claim that only the issuer may set"):
        build_claims(BearerDelivery(), {"role": "admin", name: "mine"})
    assert mapped({name: "mine"}, other=f"{{{name}}}") == {"other": "mine"}


@given(st.dictionaries(st.text().filter(lambda name: name not in RESERVED_CLAIMS), JSON))
def test_any_user_has_claims_with_a_subject_that_is_text(user: JsonObject) -> None:
    claims = build_claims(BearerDelivery(), user)
    assert isinstance(claims["sub"], str)
    assert {name: value for name, value in claims.items() if name != "sub"} == {
        name: value for name, value in user.items() if name != "sub"
    }


def test_a_claim_may_be_there_twice_to_the_letter_and_the_last_is_the_users_own() -> None:
    token = SigningKey().sign(
        {f"role{AGAIN}": "admin", "role": "user"}, issuer="https://i", audience="https://a"
    )
    part = token.text.split(".")[1]
    payload = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode()
    assert payload.index('"role":"admin"') < payload.index('"role":"user"')
    assert json.loads(payload)["role"] == "user"
