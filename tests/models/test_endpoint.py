"""Keys, headers and addresses: what is sent is what is configured, and nothing else."""

from __future__ import annotations

import pytest

from harness.base.errors import UsageError
from harness.types import Secret
from tests.fake_provider import FakeProvider, say
from tests.models.support import APIS, Api, converse, opened

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("api", APIS)]

ENVIRONMENT = {
    "ANTHROPIC_API_KEY": "from-the-environment",
    "ANTHROPIC_AUTH_TOKEN": "from-the-environment",
    "ANTHROPIC_BASE_URL": "http://127.0.0.1:9/from-the-environment",
    "ANTHROPIC_CUSTOM_HEADERS": (
        "X-Foreign: from-the-environment\nauthorization: from-the-environment"
    ),
    "ANTHROPIC_PROFILE": "from-the-environment",
    "OPENAI_API_KEY": "from-the-environment",
    "OPENAI_ADMIN_KEY": "from-the-environment",
    "OPENAI_ORG_ID": "from-the-environment",
    "OPENAI_PROJECT_ID": "from-the-environment",
    "OPENAI_BASE_URL": "http://127.0.0.1:9/from-the-environment",
    "OPENAI_CUSTOM_HEADERS": "X-Foreign: from-the-environment\nAUTHORIZATION: from-the-environment",
}


@pytest.fixture(autouse=True)
def hostile_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


async def test_nothing_is_taken_from_the_environment(api: Api) -> None:
    with FakeProvider([say("Hi.")]) as provider:
        async with opened(api, provider.url) as model:
            await converse(model)
    headers = provider.journal[0].headers
    assert headers["authorization"] == "Bearer test-key"
    assert not [name for name, value in headers.items() if "environment" in value]
    assert not {"x-foreign", "openai-organization", "openai-project"} & headers.keys()


async def test_a_server_that_needs_no_key_is_sent_none(api: Api) -> None:
    with FakeProvider([say("Hi.")], require_key=None) as provider:
        async with opened(api, provider.url, api_key=None) as model:
            (reply,) = await converse(model)
    assert reply.text == "Hi."
    assert not {"authorization", "x-api-key"} & provider.journal[0].headers.keys()


async def test_a_configured_authorization_header_stands_for_the_key(api: Api) -> None:
    with FakeProvider([say("Hi.")]) as provider:
        async with opened(
            api, provider.url, api_key=None, headers={"AUTHORIZATION": "Bearer test-key"}
        ) as model:
            await converse(model)
    assert provider.journal[0].headers["authorization"] == "Bearer test-key"


async def test_a_key_with_a_newline_at_its_end_works(api: Api) -> None:
    with FakeProvider([say("Hi.")]) as provider:
        async with opened(api, provider.url, api_key=Secret("test-key\n")) as model:
            await converse(model)
    assert provider.journal[0].headers["authorization"] == "Bearer test-key"


async def test_a_key_that_cannot_be_one_is_refused_without_being_shown(api: Api) -> None:
    with pytest.raises(
        UsageError, match="the key of model 'the-model' contains characters that cannot be sent"
    ) as refused:
        async with opened(api, "http://127.0.0.1:9", api_key=Secret("sécret")):
            pass
    assert "cret" not in str(refused.value)


@pytest.mark.parametrize(
    "headers", [{"X-Team": "hidd\nen"}, {"X-Team": "hiddén"}, {"X Team": "hidden"}]
)
async def test_a_header_that_cannot_be_sent_is_refused_without_its_value(
    api: Api, headers: dict[str, str]
) -> None:
    with pytest.raises(UsageError, match="of model 'the-model'") as refused:
        async with opened(api, "http://127.0.0.1:9", headers=headers):
            pass
    assert "hid" not in str(refused.value)


async def test_space_around_a_header_is_not_sent(api: Api) -> None:
    with FakeProvider([say("Hi.")]) as provider:
        async with opened(api, provider.url, headers={"X-Team": " evals\n"}) as model:
            await converse(model)
    assert provider.journal[0].headers["x-team"] == "evals"


async def test_the_providers_own_api_without_a_key_is_refused_and_the_variable_named(
    api: Api,
) -> None:
    with pytest.raises(UsageError, match="'the-model' needs a key: THE_KEY is not set"):
        async with opened(api, None, api_key=None, api_key_variable="THE_KEY"):
            pass


async def test_a_base_url_that_is_no_web_address_is_refused(api: Api) -> None:
    wrong = "localhost:11434 http:///v1 http://127.0.0.1:99999 http://127.0.0.1:x http://[::1/v1"
    for url in (*wrong.split(), "http://a b/v1"):
        with pytest.raises(UsageError, match="base_url of model 'the-model' is not a web address"):
            async with opened(api, None, base_url=url):
                pass


async def test_the_scheme_of_a_base_url_may_be_in_capitals(api: Api) -> None:
    with FakeProvider([say("Hi.")]) as provider:
        async with opened(api, f" {provider.url.replace('http', 'HTTP')}") as model:
            await converse(model)


async def test_one_connection_serves_one_trial_after_the_other(api: Api) -> None:
    with FakeProvider([say("Hi.")]) as provider:
        async with opened(api, provider.url) as model:
            for _ in range(5):
                await converse(model)
            assert len(provider._connections) == 1


async def test_a_configured_organisation_is_sent(api: Api) -> None:
    with FakeProvider([say("Hi.")]) as provider:
        async with opened(api, provider.url, headers={"openai-organization": "org-1"}) as model:
            await converse(model)
    assert provider.journal[0].headers["openai-organization"] == "org-1"
