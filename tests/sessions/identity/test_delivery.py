"""How a user's attributes reach a server: only by the configured way."""

from __future__ import annotations

import json
from contextlib import suppress

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import UsageError
from harness.sessions.identity.deliveries.header import HeaderDelivery
from harness.sessions.identity.delivery import (
    build_process_env,
    build_request_meta,
    check_headers,
    fill_templates,
    identity_key,
)
from harness.sessions.pool import open_sessions
from harness.types import (
    USER_CONTEXT_META_KEY,
    IdentitySpec,
    ServerSpec,
    TransportSpec,
)
from tests.clock import BOUND_S
from tests.sessions.servers import ServerFactory, call


def test_meta_carries_the_whole_user_under_one_key() -> None:
    user = {"role": "admin", "nested": {"a": [1, None]}}
    assert build_request_meta(IdentitySpec(), user) == {USER_CONTEXT_META_KEY: user}
    assert build_request_meta(IdentitySpec(), {}) == {USER_CONTEXT_META_KEY: {}}


def test_a_servers_author_chooses_the_key() -> None:
    own = IdentitySpec(plain={"meta_key": "com.example/user"})
    assert build_request_meta(own, {"role": "admin"}) == {"com.example/user": {"role": "admin"}}
    assert build_request_meta(own, None) == {}


def test_the_usual_key_belongs_to_no_domain() -> None:
    prefix, _, name = USER_CONTEXT_META_KEY.partition("/")
    assert name
    assert "." not in prefix


def test_nobody_leaves_no_trace() -> None:
    by_env = IdentitySpec(
        via="env", settings={"variables": {"ROLE": "guest"}}, plain={"json_variable": "USER"}
    )
    assert build_request_meta(IdentitySpec(), None) == {}
    assert build_process_env(by_env, None) == {}


def test_each_way_uses_its_own_channel_only() -> None:
    by_env = IdentitySpec(via="env", settings={"variables": {"ROLE": "{role}"}})
    assert build_request_meta(by_env, {"role": "admin"}) == {}
    assert build_process_env(IdentitySpec(), {"role": "admin"}) == {}


def test_variables_are_templates_and_a_missing_or_null_attribute_sets_none() -> None:
    identity = IdentitySpec(
        via="env",
        settings={
            "variables": {
                "ROLE": "{role}",
                "WHO": "{name}@{role}",
                "LEVEL": "{level}",
                "REGIONS": "{regions}",
                "NO_ONE": "{nobody}",
                "HALF": "{role}-{nobody}",
                "NULL": "{chief}",
                "FIXED": "yes",
            }
        },
        plain={"json_variable": "USER_JSON"},
    )
    user = {"role": "admin", "name": "Zoë", "level": 3, "regions": ["EU", "US"], "chief": None}
    assert build_process_env(identity, user) == {
        "ROLE": "admin",
        "WHO": "Zoë@admin",
        "LEVEL": "3",
        "REGIONS": '["EU", "US"]',
        "FIXED": "yes",
        "USER_JSON": json.dumps(user, ensure_ascii=False),
    }


def test_equal_users_have_equal_keys() -> None:
    assert identity_key({"a": 1, "b": [2]}) == identity_key({"b": [2], "a": 1})
    assert len({identity_key(user) for user in (None, {}, {"a": 1}, {"a": "1"}, {"a": True})}) == 5


def test_a_user_that_is_not_json_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot be written as JSON"):
        identity_key({"since": object()})


def test_headers_are_templates_and_a_missing_or_null_attribute_sends_none() -> None:
    templates = {
        "X-Role": "{role}",
        "X-Regions": "{regions}",
        "X-Chief": "{chief}",
        "X-None": "{nobody}",
        "X-A": "b",
    }
    user = {"role": "admin", "regions": ["EU", "US"], "chief": None}
    assert fill_templates(templates, user) == {
        "X-Role": "admin",
        "X-Regions": '["EU", "US"]',
        "X-A": "b",
    }


@given(role=st.text(max_size=20))
def test_a_user_is_told_in_a_header_as_they_are_or_not_at_all(role: str) -> None:
    delivery = HeaderDelivery(headers={"X-Role": "{role}"})
    with suppress(UsageError):
        delivery.check_user({"role": role})
        told = anyio.run(delivery.build_additions, {"role": role}).headers["X-Role"]
        assert told == role
        # What reaches a server after the white space around it is gone, as HTTP wants it.
        assert told.encode("latin-1").strip(b" \t").decode("latin-1") == role
        assert not {"\r", "\n", "\0"} & set(told)


@pytest.mark.parametrize(
    "name", ["", "X Role", "X-Role:", "Rôle", "Content-Length", "mcp-session-id", "Host"]
)
def test_a_header_that_is_none_or_is_ours_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be sent"):
        check_headers({name: "x"}, "server 'shop'")


@pytest.mark.anyio
async def test_a_server_that_runs_already_cannot_be_told_by_its_environment() -> None:
    spec = ServerSpec(
        name="shop",
        transport=TransportSpec(kind="http", url="http://127.0.0.1:1/mcp"),
        identity=IdentitySpec(via="env", plain={"json_variable": "W"}),
    )
    async with open_sessions() as pool:
        with pytest.raises(UsageError, match="needs a server that harness starts"):
            async with pool.lend_session(spec, {"role": "user"}):
                pass


@pytest.mark.anyio
async def test_the_process_of_a_user_has_the_variables_and_nothing_of_ours(
    server: ServerFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    spec = server(
        "ok",
        env={"MODE": "test"},
        identity=IdentitySpec(via="env", settings={"variables": {"ROLE": "{role}"}}),
    )
    async with open_sessions() as pool:
        async with pool.lend_session(spec, {"role": "user"}) as session:
            seen = (await call(session, "environment")).structured
            meta = (await call(session, "echo")).structured
        async with pool.lend_session(spec, {"role": "admin"}) as session:
            other = (await call(session, "environment")).structured
    assert seen is not None
    assert other is not None
    assert (seen["MODE"], seen["ROLE"], other["ROLE"]) == ("test", "user", "admin")
    # LC_CTYPE: Python itself adds it, where no locale is set.
    assert set(seen) <= {
        "HOME",
        "LOGNAME",
        "PATH",
        "SHELL",
        "TERM",
        "USER",
        "LC_CTYPE",
        "MODE",
        "ROLE",
    }
    assert meta == {"meta": None}


@pytest.mark.anyio
@pytest.mark.parametrize("via", ["header", "query", "bearer"])
async def test_ways_of_http_are_refused_on_stdio(server: ServerFactory, via: str) -> None:
    spec = server("ok", identity=IdentitySpec(via=via))
    async with open_sessions() as pool:
        pool.prestart(spec, {"role": "user"})
        with anyio.fail_after(BOUND_S), pytest.raises(UsageError, match="comes with HTTP servers"):
            async with pool.lend_session(spec, {"role": "user"}):
                pass
