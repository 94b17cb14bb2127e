"""The same APIs as clouds serve them: other paths, other keys, and refusals of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from urllib.parse import parse_qs, unquote

from tests.fake_provider import chat_api, messages_api
from tests.fake_provider.api import Api
from tests.fake_provider.incoming import Incoming, Json, Rejected
from tests.fake_provider.memory import Memory
from tests.fake_provider.schema_dialects import gemini_problem
from tests.fake_provider.steps import Answer

_VERSIONS = {"bedrock-2023-05-31": "2023-06-01", "vertex-2023-10-16": "2023-06-01"}
"""Older names of versions of the Messages API."""


def find_cloud_api(path: str, query: str) -> Api | None:
    """Return the API that a cloud serves at ``path``, if one does."""
    for pattern, make in _PATHS.items():
        if match := re.fullmatch(pattern, path):
            return make(unquote(match["model"]) if "model" in match.groupdict() else "", query)
    return None


def _serve_azure(_model: str, query: str) -> Api:
    def check(headers: Mapping[str, str], body: Json, memory: Memory) -> None:
        if not parse_qs(query).get("api-version"):
            raise Rejected("Resource not found", status=404)
        chat_api.API.check(headers, body, memory)

    return replace(chat_api.API, check=check, key_header="api-key")


def _serve_gemini(_model: str, _query: str) -> Api:
    def check(headers: Mapping[str, str], body: Json, memory: Memory) -> None:
        chat_api.API.check(headers, body, memory)
        for tool in body.get("tools", []):
            if problem := gemini_problem(tool["function"].get("parameters", {})):
                raise Rejected(problem)

    return replace(chat_api.API, check=check)


def _serve_claude(model: str, _query: str) -> Api:
    """Return the Messages API with the model in the path, and the version in the body."""

    def complete(body: Json) -> Json:
        known = body.keys() - {"anthropic_version", "anthropic_beta"}
        return {**{name: body[name] for name in known}, "model": model}

    def check(headers: Mapping[str, str], body: Json, memory: Memory) -> None:
        if "anthropic_version" not in body:
            raise Rejected("anthropic_version: Field required")
        if "model" in body:
            raise Rejected("model: Extra inputs are not permitted")
        version = _VERSIONS.get(body["anthropic_version"], body["anthropic_version"])
        messages_api.API.check(
            {**headers, "anthropic-version": str(version)}, complete(body), memory
        )

    def render(answer: Answer, incoming: Incoming, memory: Memory) -> Json:
        whole = replace(incoming, body=complete(incoming.body))
        return messages_api.API.render(answer, whole, memory)

    return replace(messages_api.API, check=check, render=render, key_header="authorization")


_PATHS: Mapping[str, Callable[[str, str], Api]] = {
    r"/openai/deployments/(?P<model>[^/]+)/chat/completions": _serve_azure,
    r"/v1beta/openai/chat/completions": _serve_gemini,
    r"/model/(?P<model>[^/]+)/invoke": _serve_claude,
    r"/v1/projects/[^/]+/locations/[^/]+/publishers/anthropic/models/(?P<model>[^/]+):rawPredict": (
        _serve_claude
    ),
}
"""Pattern of a path → what makes the API of its model and its query."""
