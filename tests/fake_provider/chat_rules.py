"""What OpenAI's Chat Completions API accepts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.fake_provider.incoming import Json, Rejected
from tests.fake_provider.memory import Memory
from tests.fake_provider.openai_rules import (
    check_arguments,
    check_function,
    check_keys,
    check_not_empty,
    check_stream,
    check_string,
    check_tool_choice,
    check_top_level,
    wrong_type,
)
from tests.fake_provider.schemas import (
    IMAGES,
    check_data_url,
    check_file,
    check_once,
    duplicates,
    words,
)

FIELDS = words(
    "audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens "
    "max_tokens messages "
    "metadata modalities model moderation n parallel_tool_calls prediction presence_penalty "
    "prompt_cache_key "
    "prompt_cache_options prompt_cache_retention reasoning_effort response_format "
    "safety_identifier seed service_tier "
    "stop store stream stream_options temperature tool_choice tools top_logprobs top_p user "
    "verbosity "
    "web_search_options"
)
MESSAGE_FIELDS = {
    "system": ("content", "name"),
    "developer": ("content", "name"),
    "user": ("content", "name"),
    "assistant": (
        "",
        "content name refusal audio annotations function_call tool_calls reasoning_content",
    ),
    "tool": ("content tool_call_id", ""),
}
MAX_CALL_ID = 40


def check(headers: Mapping[str, str], body: Json, memory: Memory) -> None:
    """Raise `Rejected` for anything that the API answers with 400."""
    check_top_level(body, FIELDS, ("model", "messages"))
    check_stream(body, "include_usage include_obfuscation")
    for name in ("functions", "function_call"):
        if name in body:
            raise Rejected(
                f"'{name}' is superseded by tools, and this fake provider does not serve it.",
                param=name,
            )
    if "max_tokens" in body and "max_completion_tokens" in body:
        raise Rejected(
            "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
        )
    tools = body.get("tools", [])
    check_once(tools, memory, _check_tools)
    choice = body.get("tool_choice")
    chosen = (choice.get("function") or {}).get("name") if isinstance(choice, dict) else None
    check_tool_choice(choice, chosen, [tool["function"]["name"] for tool in tools])
    check_not_empty("messages", body["messages"])
    for number, message in enumerate(body["messages"]):
        _check_message(f"messages[{number}]", message, memory)
    _check_calls_are_answered(body["messages"])
    _check_reasoning_came_back(body["messages"], memory)


def _check_tools(tools: list[Any]) -> None:
    for number, tool in enumerate(tools):
        path = f"tools[{number}]"
        check_keys(path, tool, "type", "function")
        if tool["type"] != "function":
            raise Rejected(
                f"Invalid value: '{tool['type']}'. Supported values are: 'function'.",
                param=f"{path}.type",
            )
        check_keys(path, tool, "type function", "")
        check_keys(f"{path}.function", tool["function"], "name", "description parameters strict")
        check_function(f"{path}.function", tool["function"], f"{path}.function.parameters")
    if twice := duplicates([tool["function"]["name"] for tool in tools]):
        raise Rejected(
            f"Invalid 'tools': function names must be unique, '{twice[0]}' is not.", param="tools"
        )


# ── Messages, one by one ─────────────────────────────────────────────────────────────────────


def _check_message(path: str, message: Any, memory: Memory) -> None:
    if not isinstance(message, dict):
        raise wrong_type(path, "an object", message)
    role = message.get("role")
    if role not in MESSAGE_FIELDS:
        raise Rejected(
            f"Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', "
            f"'tool', and 'developer'.",
            param=f"{path}.role",
            code="invalid_value",
        )
    required, optional = MESSAGE_FIELDS[role]
    check_keys(path, message, f"role {required}", optional)
    if role == "assistant":
        _check_assistant(path, message, memory)
    else:
        _check_content(
            f"{path}.content",
            message["content"],
            ("text", "image_url", "input_audio", "file") if role == "user" else ("text",),
        )
    if role == "tool":
        check_string(f"{path}.tool_call_id", message["tool_call_id"])


def _check_content(path: str, content: Any, kinds: tuple[str, ...]) -> None:
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        raise Rejected(
            f"Invalid value for '{path}': expected a string, got {_json_type(content)}.", param=path
        )
    check_not_empty(path, content)
    for number, part in enumerate(content):
        kind = part.get("type") if isinstance(part, dict) else None
        if kind not in kinds:
            raise Rejected(
                f"Invalid value: '{kind}'. Supported values are: {kinds}.",
                param=f"{path}[{number}].type",
            )
        check_keys(f"{path}[{number}]", part, f"type {kind}", "")
        if special := _PARTS.get(kind):
            special(f"{path}[{number}].{kind}", part[kind])
        else:
            check_string(f"{path}[{number}].{kind}", part[kind])


def _check_image(path: str, image: Any) -> None:
    check_keys(path, image, "url", "detail")
    check_data_url(f"{path}.url", image["url"], IMAGES)


def _check_audio(path: str, audio: Any) -> None:
    check_keys(path, audio, "data format", "")
    if audio["format"] not in ("wav", "mp3"):
        raise Rejected(f"Invalid value: '{audio['format']}'.", param=f"{path}.format")
    check_file(path, f"audio/{audio['format']}", audio["data"])


def _check_file(path: str, file: Any) -> None:
    check_keys(path, file, "file_data filename", "")
    check_data_url(f"{path}.file_data", file["file_data"], ("application/pdf",))


_PARTS = {"image_url": _check_image, "input_audio": _check_audio, "file": _check_file}


def _check_assistant(path: str, message: Json, memory: Memory) -> None:
    if "tool_calls" in message:
        check_not_empty(f"{path}.tool_calls", message["tool_calls"])
    if "function_call" in message and not isinstance(message["function_call"], dict):
        raise wrong_type(f"{path}.function_call", "an object", message["function_call"])
    if message.get("content") is not None:
        _check_content(f"{path}.content", message["content"], ("text", "refusal"))
    elif not message.get("tool_calls") and message.get("refusal") is None:
        raise Rejected(
            "Invalid value for 'content': expected a string, got null.", param=f"{path}.content"
        )
    for number, call in enumerate(message.get("tool_calls") or ()):
        _check_call(f"{path}.tool_calls[{number}]", call, memory)
    if twice := duplicates([call["id"] for call in message.get("tool_calls") or ()]):
        raise Rejected(f"Duplicate value for 'tool_call_id' of '{twice[0]}' in {path}.", param=path)


def _check_call(path: str, call: Any, memory: Memory) -> None:
    check_keys(path, call, "id type function", "")
    check_string(f"{path}.id", call["id"], MAX_CALL_ID)
    if call["type"] != "function":
        raise Rejected(
            f"Invalid value: '{call['type']}'. Supported values are: 'function'.",
            param=f"{path}.type",
        )
    check_keys(f"{path}.function", call["function"], "name arguments", "")
    check_string(f"{path}.function.name", call["function"]["name"])
    issued = memory.bad_arguments.get(call["id"])
    check_arguments(f"{path}.function.arguments", call["function"]["arguments"], issued)


def _json_type(value: Any) -> str:
    return "null" if value is None else type(value).__name__


# ── The conversation as a whole ──────────────────────────────────────────────────────────────


def _check_calls_are_answered(messages: list[Json]) -> None:
    """Every call is answered, once, by the tool messages right after it; nothing else is."""
    open_ids: list[str] = []
    for number, message in enumerate([*messages, {"role": "end"}]):
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_ids:
                raise Rejected(
                    "Invalid parameter: messages with role 'tool' must be a response to a "
                    "preceeding message with "
                    "'tool_calls'.",
                    param=f"messages[{number}].role",
                )
            open_ids.remove(message["tool_call_id"])
            continue
        if open_ids:
            raise Rejected(
                "An assistant message with 'tool_calls' must be followed by tool messages "
                "responding to each "
                f"'tool_call_id'. The following tool_call_ids did not have response messages: "
                f"{', '.join(open_ids)}",
                param=f"messages[{number}].role",
            )
        open_ids = [call["id"] for call in message.get("tool_calls") or ()]


def _check_reasoning_came_back(messages: list[Json], memory: Memory) -> None:
    """Within the present round of tool use, ``reasoning_content`` comes back unchanged, as
    compatible servers ask.
    """
    last_user = max(
        (n for n, message in enumerate(messages) if message["role"] == "user"), default=0
    )
    for number, message in enumerate(messages):
        calls = message.get("tool_calls") or ()
        issued = next(
            (memory.reasoning[call["id"]] for call in calls if call["id"] in memory.reasoning), []
        )
        given = message.get("reasoning_content")
        path = f"messages[{number}].reasoning_content"
        if given is None and (not issued or number < last_user):
            continue
        if given is None:
            raise Rejected(
                f"Missing `reasoning_content` field in the assistant message at {path}.", param=path
            )
        if calls and [{"text": given}] != issued:
            raise Rejected(
                f"Unknown parameter or altered content: '{path}'.",
                param=path,
                code="unknown_parameter",
            )
