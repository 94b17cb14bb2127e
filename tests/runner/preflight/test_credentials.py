"""What is told before a server is started, of callers that it cannot be shown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.base.errors import InvalidInput
from harness.runner.planning.plan import RunPlan, make_plan
from harness.runner.preflight.preflight import check_credentials
from harness.types import (
    Caller,
    Check,
    IdentitySpec,
    JsonObject,
    Location,
    ModelSpec,
    ServerSpec,
    Suite,
    TransportSpec,
)
from tests.support import a_case

MODEL = ModelSpec(name="m", provider="lexical", model_id="lexical")
BY_META = ServerSpec(name="shop", transport=TransportSpec(command="python"))
BY_BEARER = ServerSpec(
    name="crm",
    transport=TransportSpec(url="http://127.0.0.1:1/mcp", kind="http"),
    identity=IdentitySpec(via="bearer"),
)
BY_HEADER = replace(
    BY_BEARER,
    identity=IdentitySpec(via="header", settings={"headers": {"X-Role": "{role}"}}),
)
BOTH = ServerSpec(name="shop+crm", members=(BY_META, BY_BEARER))
REFUSED = (Check(kind="must_be_refused", params={}),)


USER: JsonObject = {"role": "a"}


def plan(server: ServerSpec, caller: Caller, checks: tuple[Check, ...] | None = None) -> RunPlan:
    at = Location(file="evals/door.yml", line=7)
    cases = (a_case(at=at, caller=caller, **({} if checks is None else {"checks": checks})),)
    return make_plan(
        [Suite(name="door", cases=cases)],
        models_of=lambda _: [MODEL],
        server_of=lambda _: server,
        trials=3,
    )


@pytest.mark.parametrize("server", [BY_BEARER, BOTH])
def test_a_flawed_token_can_be_shown_to_whoever_of_several_servers_asks_for_one(
    server: ServerSpec,
) -> None:
    check_credentials(plan(server, Caller(user_context=USER, credential="expired"), REFUSED))


@pytest.mark.parametrize(
    ("server", "caller", "checks", "problem"),
    [
        (
            BY_META,
            Caller(user_context=USER, credential="none"),
            None,
            "credential 'none' needs a bearer token, but 'shop' gets identities by meta",
        ),
        (
            BY_META,
            Caller(user_context=USER),
            REFUSED,
            "'must_be_refused' needs a server over HTTP; 'shop' is on stdio",
        ),
        (
            BY_BEARER,
            Caller(credential="expired"),
            None,
            "an anonymous caller has no token",
        ),
        (BOTH, Caller(credential="expired"), None, "an anonymous caller has no token"),
        (
            BY_BEARER,
            Caller(user_context={"aud": "me"}),
            None,
            "the user_context has 'aud', a claim that only the issuer may set",
        ),
        (
            BY_HEADER,
            Caller(user_context={"role": "a\nb"}),
            None,
            "the header 'X-Role' of this user_context cannot be sent: its value contains",
        ),
        (
            replace(BY_META, members=(), identity=BY_HEADER.identity),
            Caller(user_context=USER),
            None,
            "identity 'header' comes with HTTP servers, and server 'shop' is reached over stdio",
        ),
        (
            replace(BY_META, isolation="none", identity=IdentitySpec(via="env")),
            Caller(user_context=USER),
            None,
            "isolation 'none' needs identity 'meta', and server 'shop' has 'env'",
        ),
    ],
)
def test_what_cannot_be_shown_is_told_once_with_its_line(
    server: ServerSpec, caller: Caller, checks: tuple[Check, ...] | None, problem: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_credentials(plan(server, caller, checks))
    (found,) = caught.value.problems
    assert str(found).startswith("evals/door.yml:7: test 'case': ")
    assert problem in found.message
    assert found.meant
