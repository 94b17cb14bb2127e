"""Anthropic's models on Google's Vertex AI, with the SDK's own client for it.

- The region is that of ``CLOUD_ML_REGION``, the project that of ``ANTHROPIC_VERTEX_PROJECT_ID``,
  else that of the credentials.
- The key is an access token. Without one, the package ``google-auth`` finds the credentials of
  ``gcloud auth application-default login`` or of a service account.
"""

from __future__ import annotations

import os

import httpx2
from anthropic import APIError, AsyncAnthropicVertex

from harness.base import UsageError, load_json
from harness.models.anthropic import AnthropicModel, build_client_options
from harness.models.credentials import is_installed, report_credentials
from harness.models.endpoint import base_url, find_key
from harness.types import ModelSpec


class VertexModel(AnthropicModel):
    """One model of Vertex AI."""

    def _open_client(self, spec: ModelSpec) -> str:
        region = os.environ.get("CLOUD_ML_REGION")
        if not region:
            raise UsageError(f"model {spec.name!r} needs a region: CLOUD_ML_REGION is not set")
        token = find_key(spec) or None
        if token is None and not is_installed("google.auth"):
            raise UsageError(
                f"model {spec.name!r} needs a key: CLOUDSDK_AUTH_ACCESS_TOKEN is not set",
                meant="To use the credentials of gcloud instead: pip install google-auth requests",
            )
        if token and not os.environ.get("ANTHROPIC_VERTEX_PROJECT_ID"):
            raise UsageError(
                f"model {spec.name!r} needs a project: ANTHROPIC_VERTEX_PROJECT_ID is not set"
            )
        url = base_url(spec) if spec.base_url else _find_root(region)
        options = build_client_options(spec, url)
        if token is None:
            del options["default_headers"]["authorization"]  # the SDK adds it where it is not there
        self._client = AsyncAnthropicVertex(
            region=region,
            access_token=token,
            **options,
        )
        self._spec = spec
        return url

    async def _send(self, content: bytes) -> httpx2.Response:
        # As an object: the SDK moves the model from the body into the path.
        with report_credentials(self._spec, "Google", APIError):
            return await self._client.post(
                "/v1/messages", cast_to=httpx2.Response, body=load_json(content)
            )


def _find_root(region: str) -> str:
    """Return the root of the API in ``region``, as the SDK does."""
    if region == "global":
        return "https://aiplatform.googleapis.com/v1"
    if region in {"us", "eu"}:
        return f"https://aiplatform.{region}.rep.googleapis.com/v1"
    return f"https://{region}-aiplatform.googleapis.com/v1"
