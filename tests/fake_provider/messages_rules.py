"""What Anthropic's Messages API accepts, as strictly as its strictest endpoints do.

Two rules are those of its compatible endpoints, so that what passes here passes everywhere: roles
alternate (the API itself joins consecutive turns), and the last message is the user's (only older
models take a prefilled answer).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tests.fake_provider.incoming import Json, Rejected
from tests.fake_provider.memory import Memory
from tests.fake_provider.messages_blocks import (
    TOOL_NAME,
    check_block,
    check_keys,
    check_mark,
    content_of,
)
from tests.fake_provider.messages_conversation import check_conversation
from tests.fake_provider.schemas import check_once, duplicates, problem_2020_12, words

FIELDS = words(
    "cache_control container diagnostics inference_geo max_tokens messages metadata model "
    "output_config service_tier "
    "speed stop_sequences stream system thinking tool_choice tools user_profile_id workspace_id"
)
SAMPLING = words("temperature top_k top_p")
"""Fields that version 2023-06-01 still knows."""
BETA_FIELDS = {
    "compaction": "compact-",
    "context_management": "context-management-",
    "fallbacks": "server-side-fallback-",
    "mcp_servers": "mcp-client-",
    "thread": "message-threads-",
}
"""Field → how the beta begins that a request must name in ``anthropic-beta`` to send it."""
COUNTED = words(
    "cache_control context_management mcp_servers messages model output_config speed system "
    "thinking tool_choice tools"
)
"""Fields that counting tokens knows."""
TOOL_FIELDS = words(
    "name description input_schema cache_control type strict allowed_callers defer_loading "
    "eager_input_streaming "
    "input_examples"
)
PROPERTY_KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
MAX_BREAKPOINTS = 4
MIN_THINKING_BUDGET = 1024
FIXED_SAMPLING = re.compile(r"claude-(fable|mythos|\w+-5|\w+-4-[78])")
"""Models that take no temperature, top_k or top_p."""


def check(headers: Mapping[str, str], body: Json, memory: Memory) -> None:
    """Raise `Rejected` for anything that the API answers with 400."""
    _check_headers(headers)
    _check_fields(body, _known_fields(headers), ("model", "max_tokens", "messages"))
    _check_parts(headers, body, memory)


def check_count(headers: Mapping[str, str], body: Json, memory: Memory) -> None:
    """Raise `Rejected` where counting the tokens of such a request is answered with 400."""
    _check_headers(headers)
    _check_fields(body, _known_fields(headers) & COUNTED, ("model", "messages"))
    _check_parts(headers, body, memory)


def _check_parts(headers: Mapping[str, str], body: Json, memory: Memory) -> None:
    tools = body.get("tools") or []
    check_once(tools, memory, _check_tools)
    _check_tool_choice(body, [tool["name"] for tool in tools])
    _check_thinking_and_sampling(body)
    _check_system(body.get("system", ""))
    check_conversation(
        body["messages"],
        memory,
        has_tools=bool(tools),
        may_have_system=_names_beta(headers, "mid-conversation-system-"),
    )
    _check_breakpoints(body)


def _check_headers(headers: Mapping[str, str]) -> None:
    if "anthropic-version" not in headers:
        raise Rejected("anthropic-version: header is required")
    if headers["anthropic-version"] not in ("2023-06-01", "2026-10-21"):
        raise Rejected(
            f'anthropic-version: "{headers["anthropic-version"]}" is not a valid version'
        )


def _known_fields(headers: Mapping[str, str]) -> frozenset[str]:
    opened = {field for field, beta in BETA_FIELDS.items() if _names_beta(headers, beta)}
    sampling = SAMPLING if headers["anthropic-version"] == "2023-06-01" else frozenset()
    return FIELDS | sampling | opened


def _names_beta(headers: Mapping[str, str], beta: str) -> bool:
    named = headers.get("anthropic-beta", "").split(",")
    return any(name.strip().startswith(beta) for name in named)


def _check_fields(body: Json, fields: frozenset[str], required: tuple[str, ...]) -> None:
    for name, fits, kind in (
        ("model", lambda v: isinstance(v, str) and v, "string"),
        ("max_tokens", lambda v: isinstance(v, int) and not isinstance(v, bool), "integer"),
        ("messages", lambda v: isinstance(v, list), "list"),
    ):
        if name not in body and name in required:
            raise Rejected(f"{name}: Field required")
        if name in body and not fits(body[name]):
            raise Rejected(f"{name}: Input should be a valid {kind}")
    for name in body:
        if name not in fields:
            raise Rejected(f"{name}: Extra inputs are not permitted")
    if body.get("max_tokens", 0) < 0:
        raise Rejected("max_tokens: Input should be greater than or equal to 0")
    if not isinstance(body.get("tools", []), list):
        raise Rejected("tools: Input should be a valid list")
    if not isinstance(body.get("stop_sequences", []), list) or not all(
        body.get("stop_sequences", [])
    ):
        raise Rejected("stop_sequences: each stop sequence must contain non-whitespace")
    check_mark(body, "")
    if body.get("metadata") is not None and set(body["metadata"]) - {"user_id"}:
        raise Rejected("metadata: Extra inputs are not permitted")
    if not isinstance(body.get("stream", False), bool):
        raise Rejected("stream: Input should be a valid boolean")


def _check_tools(tools: list[Any]) -> None:
    for number, tool in enumerate(tools):
        _check_tool(f"tools.{number}", tool)
    if duplicates([tool["name"] for tool in tools]):
        raise Rejected("tools: Tool names must be unique.")


def _check_tool(path: str, tool: Any) -> None:
    if not isinstance(tool, dict):
        raise Rejected(
            f"{path}: Input should be a valid dictionary or object to extract fields from"
        )
    if tool.get("type") not in (None, "custom"):
        raise Rejected(
            f"{path}: Input tag '{tool['type']}' found using 'type' does not match any of the "
            f"expected tags"
        )
    path += ".custom"
    check_keys(path, tool, frozenset({"name", "input_schema"}), TOOL_FIELDS)
    if not isinstance(tool["name"], str) or not TOOL_NAME.fullmatch(tool["name"]):
        raise Rejected(f"{path}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
    if not isinstance(tool.get("description", ""), str):
        raise Rejected(f"{path}.description: Input should be a valid string")
    check_mark(tool, path)
    _check_schema(f"{path}.input_schema", tool["input_schema"])


def _check_schema(path: str, schema: Any) -> None:
    if not isinstance(schema, dict):
        raise Rejected(f"{path}: Input should be a valid dictionary")
    if "type" not in schema:
        raise Rejected(f"{path}.type: Field required")
    if schema["type"] != "object":
        raise Rejected(f"{path}.type: Input should be 'object'")
    if schema.keys() & {"oneOf", "allOf", "anyOf"}:
        raise Rejected(
            f"{path}: input_schema does not support oneOf, allOf, or anyOf at the top level"
        )
    if problem := problem_2020_12(schema):
        raise Rejected(
            f"{path}: JSON schema is invalid. It must match JSON Schema draft 2020-12 "
            f"(https://json-schema.org/draft/2020-12): {problem}"
        )
    if not all(PROPERTY_KEY.fullmatch(key) for key in schema.get("properties", {})):
        raise Rejected(
            f"{path}.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{{1,64}}$'"
        )


def _check_tool_choice(body: Json, names: list[str]) -> None:
    choice = body.get("tool_choice")
    if choice is None:
        return
    if not isinstance(choice, dict) or choice.get("type") not in ("auto", "any", "tool", "none"):
        raise Rejected(
            "tool_choice: Input tag does not match any of the expected tags: 'auto', 'any', "
            "'tool', 'none'"
        )
    own = {"type"} | ({"disable_parallel_tool_use"} if choice["type"] != "none" else set())
    own |= {"name"} if choice["type"] == "tool" else set()
    if choice.keys() - own:
        raise Rejected(
            f"tool_choice.{choice['type']}.{min(choice.keys() - own)}: Extra inputs are not "
            f"permitted"
        )
    if not names:
        raise Rejected("tool_choice: tool_choice may only be specified while providing tools")
    if choice["type"] == "tool" and choice.get("name") not in names:
        raise Rejected(f"tool_choice: Tool '{choice.get('name')}' not found in provided tools")


def _check_thinking_and_sampling(body: Json) -> None:
    thinking = body.get("thinking") or {"type": "disabled"}
    if thinking.get("type") not in ("enabled", "disabled", "adaptive", "between_tools"):
        raise Rejected(
            "thinking: Input tag does not match any of the expected tags: 'adaptive', 'disabled', "
            "'enabled'"
        )
    if thinking["type"] == "enabled":
        budget = thinking.get("budget_tokens")
        if not isinstance(budget, int) or budget < MIN_THINKING_BUDGET:
            raise Rejected(
                "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
            )
        if "max_tokens" in body and budget >= body["max_tokens"]:
            raise Rejected("`max_tokens` must be greater than `thinking.budget_tokens`")
        if (body.get("tool_choice") or {}).get("type") in ("any", "tool"):
            raise Rejected("Thinking may not be enabled when tool_choice forces tool use.")
        if body.get("temperature", 1) != 1:
            raise Rejected("`temperature` may only be set to 1 when thinking is enabled.")
    for name in SAMPLING & body.keys():
        if FIXED_SAMPLING.match(body["model"]):
            raise Rejected(f"`{name}` is deprecated for this model.")
    if not 0 <= body.get("temperature", 1) <= 1:
        raise Rejected("temperature: range: 0..1")


def _check_system(system: Any) -> None:
    if isinstance(system, str):
        return
    if not isinstance(system, list):
        raise Rejected("system: Input should be a valid list")
    for number, block in enumerate(system):
        if not isinstance(block, dict) or block.get("type") != "text":
            raise Rejected(f"system.{number}.type: Input should be 'text'")
        check_block(f"system.{number}", block, "user")


def _check_breakpoints(body: Json) -> None:
    blocks = [
        *(body.get("tools") or []),
        *(body["system"] if isinstance(body.get("system"), list) else []),
    ]
    for message in body["messages"]:
        for block in content_of(message):
            blocks += [block, *(block["content"] if isinstance(block.get("content"), list) else [])]
    lifetimes = [
        block["cache_control"].get("ttl", "5m") for block in blocks if block.get("cache_control")
    ]
    count = len(lifetimes) + bool(body.get("cache_control"))
    if count > MAX_BREAKPOINTS:
        raise Rejected(f"A maximum of 4 blocks with cache_control may be provided. Found {count}.")
    if lifetimes != sorted(lifetimes):  # "1h" sorts before "5m"
        raise Rejected(
            "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block"
        )
