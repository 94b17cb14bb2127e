"""Anthropic's models on AWS Bedrock, with the SDK's own client for it.

- The region is that of ``AWS_REGION`` or ``AWS_DEFAULT_REGION``.
- Without a key, the package ``boto3`` finds the credentials of AWS: variables, profiles, roles.
"""

from __future__ import annotations

import os

import httpx2
from anthropic import APIError, AsyncAnthropicBedrock

from harness.base import UsageError, load_json
from harness.models.anthropic import AnthropicModel, build_client_options
from harness.models.credentials import is_installed, report_credentials
from harness.models.endpoint import base_url, find_key
from harness.types import ModelSpec


class BedrockModel(AnthropicModel):
    """One model of Bedrock."""

    def _open_client(self, spec: ModelSpec) -> str:
        region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
        if not region:
            raise UsageError(f"model {spec.name!r} needs a region: AWS_REGION is not set")
        url = base_url(spec) if spec.base_url else f"https://bedrock-runtime.{region}.amazonaws.com"
        key = find_key(spec) or None
        if key is None and not is_installed("boto3"):
            raise UsageError(
                f"model {spec.name!r} needs a key: AWS_BEARER_TOKEN_BEDROCK is not set",
                meant="To use other credentials of AWS instead: pip install boto3",
            )
        client = AsyncAnthropicBedrock(
            aws_region=region,
            api_key=key,
            **build_client_options(spec, url),
        )
        # It takes the key of the environment, which must not go to an address of a file.
        client.api_key = key
        self._client, self._spec = client, spec
        return url

    async def _send(self, content: bytes) -> httpx2.Response:
        # As an object: the SDK moves the model from the body into the path.
        with report_credentials(self._spec, "AWS", APIError):
            return await self._client.post(
                "/v1/messages", cast_to=httpx2.Response, body=load_json(content)
            )
