"""Models of clouds: each is asked at its own address, in its own way, with its own credentials."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from harness.base.errors import ModelError, UsageError
from harness.models.model import Model, open_model
from harness.models.pricing import Pricer, list_price
from harness.suites.config import Config
from harness.types import ModelSpec, Secret, Tool, ToolList
from tests.clock import BOUND_S
from tests.fake_provider import FakeProvider, call, say
from tests.models.support import HELLO, TOOLS, converse

pytestmark = pytest.mark.anyio

BEDROCK_ID = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
MODELS = {
    "azure": "my-deployment",
    "gemini": "gemini-2.5-flash",
    "bedrock": BEDROCK_ID,
    "vertex": "claude-sonnet-4-5@20250929",
}
ROOTS = {"azure": "", "gemini": "/v1beta/openai", "bedrock": "", "vertex": "/v1"}
PATHS = {
    "azure": "/openai/deployments/my-deployment/chat/completions",
    "gemini": "/v1beta/openai/chat/completions",
    "bedrock": "/model/us.anthropic.claude-sonnet-4-5-20250929-v1:0/invoke",
    "vertex": "/v1/projects/shop/locations/europe-west1/publishers/anthropic/models/"
    "claude-sonnet-4-5@20250929:rawPredict",
}


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Name region and project as people do, and credentials that must not be sent by themselves."""
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    monkeypatch.setenv("CLOUD_ML_REGION", "europe-west1")
    monkeypatch.setenv("ANTHROPIC_VERTEX_PROJECT_ID", "shop")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "x-inherited: secret")
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "of-the-environment")
    monkeypatch.setenv("AZURE_OPENAI_AD_TOKEN", "of-the-environment")
    monkeypatch.delenv("OPENAI_API_VERSION", raising=False)


def spec(provider: str, url: str | None, **settings: Any) -> ModelSpec:
    usual: dict[str, Any] = {
        "name": "the-model",
        "provider": provider,
        "model_id": MODELS[provider],
        "api_key": Secret("test-key"),
        "api_key_variable": "THE_KEY",
        "base_url": url and url + ROOTS[provider],
        "timeout_s": BOUND_S,
        "max_retries": 0,
    }
    return ModelSpec(**{**usual, **settings})


@asynccontextmanager
async def opened(described: ModelSpec) -> AsyncIterator[Model]:
    model = open_model(described)
    try:
        yield model
    finally:
        await model.aclose()


@pytest.mark.parametrize("provider", MODELS)
async def test_a_conversation_with_calls_goes_by_the_cloud_s_own_path(provider: str) -> None:
    with FakeProvider([call("get_order", {"id": 7}), say("On its way.")]) as fake:
        async with opened(spec(provider, fake.url)) as model:
            first, last = await converse(model, system="Be brief.")
    assert [request.rejected for request in fake.journal] == [None, None]
    assert {request.path for request in fake.journal} == {PATHS[provider]}
    assert [request.arguments for request in first.tool_requests] == [{"id": 7}]
    assert last.text == "On its way."
    assert (last.usage.input_tokens or 0) > 0
    sent = fake.journal[0]
    assert "x-inherited" not in sent.headers
    assert "of-the-environment" not in str(sent.headers)


@pytest.mark.parametrize("provider", MODELS)
async def test_a_wrong_key_is_the_configuration_s_fault_and_is_not_quoted(provider: str) -> None:
    with FakeProvider([say("Hello.")]) as fake:
        async with opened(spec(provider, fake.url, api_key=Secret("wrong-one"))) as model:
            with pytest.raises(ModelError) as failed:
                await model.answer(HELLO, TOOLS, None)
    assert (failed.value.kind, failed.value.status) == ("configuration", 401)
    assert "wrong-one" not in str(failed.value)


async def test_azure_is_asked_with_its_own_header_and_the_version_that_is_named() -> None:
    with FakeProvider([say("Hello.")], require_key="test-key") as fake:
        url = f"{fake.url}?api-version=2025-03-01-preview"
        async with opened(spec("azure", url, base_url=url)) as model:
            await model.answer(HELLO, TOOLS, None)
        async with opened(
            spec("azure", fake.url, api_key=None, headers={"api-key": "test-key"})
        ) as model:
            await model.answer(HELLO, TOOLS, None)
    assert [request.headers["api-key"] for request in fake.journal] == ["test-key", "test-key"]
    assert "authorization" not in fake.journal[0].headers


async def test_gemini_gets_schemas_in_its_own_dialect() -> None:
    schema = {
        "type": "object",
        "properties": {
            "amount": {"type": ["number", "null"], "exclusiveMinimum": 0, "multipleOf": 0.01},
            "kind": {"const": "refund"},
        },
        "additionalProperties": False,
        "$schema": "https://json-schema.org/draft/2020-12/schema",
    }
    tools = ToolList(tools=(Tool(name="pay", input_schema=schema),))
    with FakeProvider([say("Done.")]) as fake:
        async with opened(spec("gemini", fake.url)) as model:
            await model.answer(HELLO, tools, None)
    assert [request.rejected for request in fake.journal] == [None]


@pytest.mark.parametrize(
    ("provider", "settings", "message"),
    [
        ("azure", {"base_url": None}, "AZURE_OPENAI_ENDPOINT is not set"),
        ("azure", {"api_key": None}, "AZURE_OPENAI_API_KEY is not set"),
        ("bedrock", {"api_key": None}, "AWS_BEARER_TOKEN_BEDROCK is not set"),
        ("vertex", {"api_key": None}, "CLOUDSDK_AUTH_ACCESS_TOKEN is not set"),
        ("gemini", {"api_key": None, "base_url": None}, "needs a key"),
    ],
)
def test_what_is_missing_is_said_before_anything_is_sent(
    monkeypatch: pytest.MonkeyPatch, provider: str, settings: dict[str, Any], message: str
) -> None:
    for module in ("azure", "bedrock", "vertex"):
        monkeypatch.setattr(f"harness.models.{module}.is_installed", lambda _: False)
    with pytest.raises(UsageError, match=message) as refused:
        open_model(spec(provider, "https://models.example.com", **settings))
    if provider != "gemini" and "api_key" in settings:
        assert "pip install" in str(refused.value.meant)


@pytest.mark.parametrize(
    ("provider", "variable", "message"),
    [
        ("bedrock", "AWS_REGION", "AWS_REGION is not set"),
        ("vertex", "CLOUD_ML_REGION", "CLOUD_ML_REGION is not set"),
        ("vertex", "ANTHROPIC_VERTEX_PROJECT_ID", "ANTHROPIC_VERTEX_PROJECT_ID is not set"),
    ],
)
def test_a_region_or_project_that_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, provider: str, variable: str, message: str
) -> None:
    monkeypatch.delenv(variable)
    with pytest.raises(UsageError, match=message):
        open_model(spec(provider, None))


async def test_credentials_that_cannot_be_found_are_told_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The package itself fails: it is not there, which the SDK finds only when it signs.
    monkeypatch.setattr("harness.models.bedrock.is_installed", lambda _: True)
    monkeypatch.setitem(sys.modules, "botocore", None)
    with FakeProvider([say("Hello.")]) as fake:
        async with opened(spec("bedrock", fake.url, api_key=None)) as model:
            with pytest.raises(ModelError, match="no credentials for AWS") as failed:
                await model.answer(HELLO, TOOLS, None)
    assert failed.value.kind == "configuration"
    assert "set THE_KEY" in str(failed.value)
    assert fake.journal == []


@pytest.mark.parametrize(
    ("name", "provider"),
    [
        (BEDROCK_ID, "bedrock"),
        ("anthropic.claude-opus-4-8", "bedrock"),
        ("claude-sonnet-4-5@20250929", "vertex"),
        ("claude-sonnet-4-5", "anthropic"),
        ("gemini-2.5-pro", "gemini"),
        ("azure:my-deployment", "azure"),
    ],
)
def test_an_id_tells_whose_it_is(name: str, provider: str) -> None:
    assert Config(environ={}, keyless=True).resolve_model(name).provider == provider


@pytest.mark.parametrize("provider", ["azure", "bedrock", "vertex"])
def test_a_cloud_needs_no_key_where_its_own_credentials_may_be_found(provider: str) -> None:
    assert Config(environ={}).resolve_model(f"{provider}:{MODELS[provider]}").api_key is None


@pytest.mark.parametrize(
    ("provider", "url", "model"),
    [
        ("bedrock", "https://bedrock-runtime.eu-central-1.amazonaws.com", BEDROCK_ID),
        ("vertex", "https://europe-west1-aiplatform.googleapis.com/v1", MODELS["vertex"]),
    ],
)
def test_a_cloud_has_prices_before_and_after_a_reply(provider: str, url: str, model: str) -> None:
    described = spec(provider, None)
    usage = {"input_tokens": 1000, "output_tokens": 100}
    read = Pricer(described, url=url, flavour="default").read_usage({"usage": usage})
    assert read.cost_usd == pytest.approx(list_price(described, 1000, 100))
    assert read.cost_usd is not None
    assert read.cost_usd > 0
