"""What OpenAI's Responses API accepts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.fake_provider.incoming import Json, Rejected
from tests.fake_provider.memory import Memory
from tests.fake_provider.openai_rules import (
    REASONING_MODEL,
    check_arguments,
    check_keys,
    check_not_empty,
    check_stream,
    check_string,
    check_tool_choice,
    check_top_level,
    wrong_type,
)
from tests.fake_provider.schemas import IMAGES, check_data_url, check_once, duplicates, words
from tests.fake_provider.tools.responses import check_tools, names

FIELDS = words(
    "access_programs background client_metadata context_management conversation image include "
    "input instructions "
    "max_output_tokens "
    "max_tool_calls metadata model moderation parallel_tool_calls previous_response_id prompt "
    "prompt_cache_key "
    "prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier store "
    "stream stream_options "
    "temperature text tool_choice tools top_logprobs top_p truncation user"
)
ITEM_FIELDS = {
    "message": ("role content", "id phase status type"),
    "function_call": ("type call_id name arguments", "id caller namespace status async"),
    "function_call_output": ("type call_id output", "id caller name namespace status"),
    "custom_tool_call": ("type call_id name input", "id caller namespace status"),
    "custom_tool_call_output": ("type call_id output", "id caller name status"),
    "web_search_call": ("type id action status", ""),
    "reasoning": ("type id summary", "content encrypted_content status"),
}
ID_PREFIXES = {
    "message": "msg",
    "function_call": "fc",
    "function_call_output": "fc",
    "custom_tool_call": "ctc",
    "custom_tool_call_output": "ctc",
    "web_search_call": "ws",
    "reasoning": "rs",
}
NULLABLE = frozenset({"encrypted_content", "phase", "caller", "name", "namespace", "id"})
"""Optional item fields that may be sent as null; the others may only be left out."""
MIN_OUTPUT_TOKENS = 16
MAX_CALL_ID = 64


def check(headers: Mapping[str, str], body: Json, memory: Memory) -> None:
    """Raise `Rejected` for anything that the API answers with 400."""
    check_top_level(body, FIELDS, ("model", "input"))
    check_stream(body, "include_obfuscation")
    _check_parameters(body)
    tools = body.get("tools", [])
    check_once(tools, memory, check_tools)
    choice = body.get("tool_choice")
    chosen = choice.get("name") if isinstance(choice, dict) else None
    check_tool_choice(choice, chosen, names(tools))
    items = body["input"]
    if isinstance(items, str):
        return
    check_not_empty("input", items)
    for number, item in enumerate(items):
        _check_item(f"input[{number}]", item, memory)
    _check_ids(items)
    _check_calls_are_answered(items)
    _check_reasoning(items, memory, stored=body.get("store") is not False)


def _check_parameters(body: Json) -> None:
    limit = body.get("max_output_tokens")
    if limit is not None and limit < MIN_OUTPUT_TOKENS:
        raise Rejected(
            f"Invalid 'max_output_tokens': integer below minimum value. Expected a value >= "
            f"{MIN_OUTPUT_TOKENS}, but "
            f"got {limit} instead.",
            param="max_output_tokens",
            code="integer_below_min_value",
        )
    if "temperature" in body and REASONING_MODEL.match(body["model"]):
        raise Rejected(
            "Unsupported parameter: 'temperature' is not supported with this model.",
            param="temperature",
        )
    if body.get("previous_response_id") is not None:
        raise Rejected(
            f"Previous response with id '{body['previous_response_id']}' not found.",
            param="previous_response_id",
            code="previous_response_not_found",
        )


# ── Items, one by one ────────────────────────────────────────────────────────────────────────


def kind_of(item: Json) -> str:
    """Return an item's type; a message may leave it out."""
    return str(item.get("type", "message" if "role" in item else None))


def _check_item(path: str, item: Any, memory: Memory) -> None:
    if not isinstance(item, dict):
        raise wrong_type(path, "an object", item)
    kind = kind_of(item)
    if kind not in ITEM_FIELDS:
        raise Rejected(
            f"Invalid value: '{kind}'. Supported values are: {', '.join(map(repr, ITEM_FIELDS))}.",
            param=f"{path}.type",
            code="invalid_value",
        )
    required, optional = ITEM_FIELDS[kind]
    check_keys(path, item, required, optional)
    for name, value in item.items():
        if value is None and name not in NULLABLE:
            raise wrong_type(f"{path}.{name}", "a value", value)
    item_id = item.get("id")
    if item_id is not None and not str(item_id).startswith(ID_PREFIXES[kind]):
        raise Rejected(
            f"Invalid '{path}.id': '{item_id}'. Expected an ID that begins with "
            f"'{ID_PREFIXES[kind]}'.",
            param=f"{path}.id",
            code="invalid_value",
        )
    CHECKS[kind](path, item, memory)


def _check_message(path: str, item: Json, memory: Memory) -> None:
    role = item["role"]
    if role not in ("user", "assistant", "system", "developer"):
        raise Rejected(
            f"Invalid value: '{role}'. Supported values are: 'assistant', 'system', 'developer', "
            f"and 'user'.",
            param=f"{path}.role",
            code="invalid_value",
        )
    if isinstance(item["content"], str):
        return
    check_not_empty(f"{path}.content", item["content"])
    kinds = (
        ("output_text", "refusal")
        if role == "assistant"
        else ("input_text", "input_image", "input_file")
    )
    for number, part in enumerate(item["content"]):
        _check_part(f"{path}.content[{number}]", part, kinds)


def _check_part(path: str, part: Any, kinds: tuple[str, ...]) -> None:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind not in kinds:
        raise Rejected(
            f"Invalid value: '{kind}'. Supported values are: {' and '.join(map(repr, kinds))}.",
            param=f"{path}.type",
            code="invalid_value",
        )
    if kind in ("input_text", "output_text"):
        check_keys(path, part, "type text", "annotations logprobs" if kind == "output_text" else "")
        check_string(f"{path}.text", part["text"])
    elif kind == "refusal":
        check_keys(path, part, "type refusal", "")
    elif kind == "input_image":
        check_keys(path, part, "type image_url", "detail")
        check_data_url(f"{path}.image_url", part["image_url"], IMAGES)
    elif kind == "input_file":
        check_keys(path, part, "type file_data filename", "detail")
        check_data_url(f"{path}.file_data", part["file_data"], ("application/pdf",))


def _check_call(path: str, item: Json, memory: Memory) -> None:
    check_string(f"{path}.call_id", item["call_id"], MAX_CALL_ID)
    check_string(f"{path}.name", item["name"])
    check_arguments(
        f"{path}.arguments", item["arguments"], memory.bad_arguments.get(item["call_id"])
    )


def _check_custom_call(path: str, item: Json, memory: Memory) -> None:
    check_string(f"{path}.call_id", item["call_id"], MAX_CALL_ID)
    for name in ("name", "input"):
        check_string(f"{path}.{name}", item[name])


def _check_search(path: str, item: Json, memory: Memory) -> None:
    if not isinstance(item["action"], dict):
        raise wrong_type(f"{path}.action", "an object", item["action"])


def _check_output(path: str, item: Json, memory: Memory) -> None:
    check_string(f"{path}.call_id", item["call_id"], MAX_CALL_ID)
    if isinstance(item["output"], str):
        return
    if not isinstance(item["output"], list):
        raise wrong_type(f"{path}.output", "a string", item["output"])
    for number, part in enumerate(item["output"]):
        _check_part(f"{path}.output[{number}]", part, ("input_text", "input_image", "input_file"))


def _check_summary(path: str, item: Json, memory: Memory) -> None:
    if not isinstance(item["summary"], list):
        raise wrong_type(f"{path}.summary", "an array of objects", item["summary"])


CHECKS: Mapping[str, Callable[[str, Json, Memory], None]] = {
    "message": _check_message,
    "function_call": _check_call,
    "function_call_output": _check_output,
    "custom_tool_call": _check_custom_call,
    "custom_tool_call_output": _check_output,
    "web_search_call": _check_search,
    "reasoning": _check_summary,
}

# ── The conversation as a whole ──────────────────────────────────────────────────────────────


def _check_ids(items: list[Json]) -> None:
    if twice := duplicates([item["id"] for item in items if item.get("id") is not None]):
        raise Rejected(
            f"Duplicate item found with id {twice[0]}. Remove duplicate items from your input and "
            f"try again.",
            param="input",
        )


def _check_calls_are_answered(items: list[Json]) -> None:
    """Every call has its output after it and before the next message.

    Every output has its call before it.
    """
    asked: list[str] = []
    answered: list[str] = []
    for item in [*items, {"type": "message", "role": "end"}]:
        kind = kind_of(item)
        if kind in ("function_call", "custom_tool_call"):
            if item["call_id"] in asked:
                raise Rejected(
                    f"Duplicate function call with call_id {item['call_id']}.", param="input"
                )
            asked.append(item["call_id"])
        elif kind in ("function_call_output", "custom_tool_call_output"):
            if item["call_id"] not in asked:
                raise Rejected(
                    f"No tool call found for function call output with call_id {item['call_id']}.",
                    param="input",
                )
            if item["call_id"] in answered:
                raise Rejected(
                    f"Duplicate function call output with call_id {item['call_id']}.", param="input"
                )
            answered.append(item["call_id"])
        elif kind == "message" and item["role"] != "assistant" and set(asked) - set(answered):
            open_ids = [call_id for call_id in asked if call_id not in answered]
            raise Rejected(f"No tool output found for function call {open_ids[0]}.", param="input")


def _check_reasoning(items: list[Json], memory: Memory, *, stored: bool) -> None:
    """Reasoning comes back as it was sent, right before what it led to, and with what needs it."""
    for number, item in enumerate(items):
        if kind_of(item) == "reasoning":
            _check_one_reasoning(item, memory, stored=stored)
            following = items[number + 1] if number + 1 < len(items) else {}
            if (
                kind_of(following) not in ("function_call", "reasoning")
                and following.get("role") != "assistant"
            ):
                raise Rejected(
                    f"Item '{item['id']}' of type 'reasoning' was provided without its required "
                    f"following item.",
                    param="input",
                )
    sent = {item["id"] for item in items if kind_of(item) == "reasoning"}
    for item in items:
        key = item.get("call_id") if kind_of(item) == "function_call" else item.get("id")
        for reasoning in memory.reasoning.get(str(key), ()):
            if kind_of(item) != "reasoning" and reasoning["id"] not in sent:
                raise Rejected(
                    f"Item '{item.get('id') or key}' of type '{kind_of(item)}' was provided "
                    f"without its required "
                    f"'reasoning' item: '{reasoning['id']}'.",
                    param="input",
                )


def _check_one_reasoning(item: Json, memory: Memory, *, stored: bool) -> None:
    issued = next(iter(memory.reasoning.get(item["id"], ())), None)
    if issued is None:
        raise Rejected(f"Item with id '{item['id']}' not found.", param="input")
    if not stored and item.get("encrypted_content") is None:
        raise Rejected(
            f"Item with id '{item['id']}' not found. Items are not persisted when `store` is set "
            f"to false. Try again "
            "with `store` set to true, or remove this item from your input.",
            param="input",
        )
    if (
        item.get("encrypted_content") not in (None, issued["encrypted_content"])
        or item["summary"] != issued["summary"]
    ):
        raise Rejected(
            f"The encrypted content for item {item['id']} could not be verified.",
            param="input",
            code="invalid_encrypted_content",
        )
