"""Models in a resource of Azure, with the SDK's own client for it.

- ``base_url`` is the resource, such as ``https://NAME.openai.azure.com``; the model's id is the
  name of the deployment.
- Without a key, the package ``azure-identity`` finds a token: of ``az login``, a managed identity,
  or the variables of a service principal.
- The version of the API is that of ``base_url``'s query, else ``OPENAI_API_VERSION``.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any, ClassVar, cast
from urllib.parse import parse_qs, quote

import anyio
from openai import APIError, AsyncAzureOpenAI, Omit

from harness.base import UsageError
from harness.models.credentials import is_installed, report_credentials
from harness.models.endpoint import base_url, build_headers, build_timeout, find_key
from harness.models.openai_chat import OpenAIChat
from harness.models.openai_connection import OpenAIConnection, OpenAIHttpClient
from harness.types import ModelSpec

API_VERSION = "2024-10-21"
"""The version of the API where none is named."""
_SCOPE = "https://cognitiveservices.azure.com/.default"


class AzureConnection(OpenAIConnection):
    """The SDK's client for one deployment."""

    def _open_client(self, spec: ModelSpec, path: str) -> str:
        if not spec.base_url:
            raise UsageError(
                f"model {spec.name!r} needs the address of its resource: "
                "AZURE_OPENAI_ENDPOINT is not set",
                meant="It looks like https://NAME.openai.azure.com.",
            )
        url, self._spec = base_url(spec), spec
        named = parse_qs(spec.base_url.partition("?")[2]).get("api-version", [""])[-1]
        headers = build_headers(spec, inherited="OPENAI_CUSTOM_HEADERS", omit=Omit())
        # The key has a header of its own here.
        if find_key(spec):
            del headers["authorization"]
        for name in ("OpenAI-Organization", "OpenAI-Project"):
            headers[name] = headers.pop(name.lower(), Omit())
        configured = headers.pop("api-key", None)
        key = find_key(spec) or (configured if isinstance(configured, str) else None)
        self._client = AsyncAzureOpenAI(
            azure_endpoint=url,
            azure_deployment=quote(spec.model_id, safe=""),
            api_version=named or os.environ.get("OPENAI_API_VERSION") or API_VERSION,
            api_key=key,
            azure_ad_token_provider=None if key else _find_tokens(spec),
            timeout=build_timeout(spec),
            # Its own loop ignores a long Retry-After, and knows nothing of the other trials.
            max_retries=0,
            http_client=OpenAIHttpClient(url, spec.max_reply_mb),
            default_headers=cast(
                "dict[str, str]",
                headers if key else {k: v for k, v in headers.items() if k != "authorization"},
            ),
        )
        self._url = path
        self._options: Any = {}
        return url

    async def _post(self, content: bytes) -> Any:
        with report_credentials(self._spec, "Azure", APIError):
            return await super()._post(content)


class AzureChat(OpenAIChat):
    """One deployment, asked by Chat Completions."""

    connection_type: ClassVar[type[OpenAIConnection]] = AzureConnection


def _find_tokens(spec: ModelSpec) -> Callable[[], Awaitable[str]]:
    if not is_installed("azure.identity"):
        raise UsageError(
            f"model {spec.name!r} needs a key: AZURE_OPENAI_API_KEY is not set",
            meant="To use the credentials of `az login` instead: pip install azure-identity",
        )
    identity = import_module("azure.identity")
    find_token = identity.get_bearer_token_provider(identity.DefaultAzureCredential(), _SCOPE)
    return lambda: anyio.to_thread.run_sync(find_token)
