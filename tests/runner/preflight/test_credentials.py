"""What is told before a server is started, of callers that it cannot be shown."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import InvalidInput
from harness.runner.planning.plan import Plan, make_plan
from harness.runner.preflight.credentials import check_credentials
from harness.types import Check, IdentitySpec, Location, ModelSpec, ServerSpec, Suite
from tests.support import a_case

MODEL = ModelSpec(name="m", provider="lexical", model_id="lexical")
BY_META = ServerSpec(name="shop", command="python")
BY_BEARER = ServerSpec(
    name="crm", url="http://127.0.0.1:1/mcp", transport="http", identity=IdentitySpec(via="bearer")
)
BOTH = ServerSpec(name="shop+crm", members=(BY_META, BY_BEARER))
REFUSED = (Check(kind="must_be_refused", params={}),)


def plan(server: ServerSpec, **case: Any) -> Plan:
    at = Location(file="evals/door.yml", line=7)
    cases = (a_case(**{"at": at, "user_context": {"role": "a"}, **case}),)
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
    check_credentials(plan(server, credential="expired", checks=REFUSED))


@pytest.mark.parametrize(
    ("server", "case", "problem"),
    [
        (
            BY_META,
            {"credential": "none"},
            "credential 'none' needs a bearer token, and 'shop' learns who asks by meta",
        ),
        (
            BY_META,
            {"checks": REFUSED},
            "'must_be_refused' needs a server over HTTP; 'shop' is on stdio",
        ),
        (
            BY_BEARER,
            {"credential": "expired", "user_context": None},
            "there is no token for nobody",
        ),
        (BOTH, {"credential": "expired", "user_context": None}, "there is no token for nobody"),
        (
            BY_BEARER,
            {"user_context": {"aud": "me"}},
            "the user_context has 'aud', which in a token is the issuer's claim",
        ),
    ],
)
def test_what_cannot_be_shown_is_told_once_with_its_line(
    server: ServerSpec, case: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_credentials(plan(server, **case))
    (found,) = caught.value.problems
    assert str(found).startswith("evals/door.yml:7: test 'case': ")
    assert problem in found.message
    assert found.meant
