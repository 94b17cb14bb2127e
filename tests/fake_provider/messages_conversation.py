"""What Anthropic's Messages API accepts as a conversation.

Turns, calls and their results, thinking.
"""

from __future__ import annotations

from typing import Any

from tests.fake_provider.incoming import Json, Rejected
from tests.fake_provider.memory import Memory
from tests.fake_provider.messages_blocks import check_block, check_keys, content_of
from tests.fake_provider.schemas import duplicates

THINKING = ("thinking", "redacted_thinking")


def check_conversation(
    messages: list[Any], memory: Memory, *, has_tools: bool, may_have_system: bool
) -> None:
    """Hold the messages, one by one and together.

    Where a system message may stand among them, it is no turn: what is around it is held as if it
    were not there.
    """
    if may_have_system:
        _check_system_messages(messages)
        messages = [message for message in messages if not _is_system(message)]
    if not messages:
        raise Rejected("messages: at least one message is required")
    asked: list[str] = []
    ever_asked: list[str] = []
    previous = "assistant"
    for number, message in enumerate(messages):
        role = _check_message(number, message)
        if role == previous:
            raise Rejected(
                'messages: first message must use the "user" role'
                if number == 0
                else f'messages: roles must alternate between "user" and "assistant", but found '
                f'multiple "{role}" '
                "roles in a row"
            )
        previous = role
        blocks = content_of(message)
        if role == "user":
            _check_results(number, blocks, asked)
        asked = [block["id"] for block in blocks if block["type"] == "tool_use"]
        ever_asked += asked
        _check_signatures(number, blocks, memory)
    if duplicates(ever_asked):
        raise Rejected("messages: `tool_use` ids must be unique")
    if previous == "assistant" and not _was_paused(messages, memory):
        raise Rejected(
            "This model does not support assistant message prefill. The conversation must end with "
            "a user message."
        )
    if ever_asked and not has_tools:
        raise Rejected(
            "Requests which include `tool_use` or `tool_result` blocks must define tools"
        )
    _check_thinking_came_back(messages, memory)


def _is_system(message: Any) -> bool:
    return isinstance(message, dict) and message.get("role") == "system"


def _check_system_messages(messages: list[Any]) -> None:
    for number, message in enumerate(messages):
        if not _is_system(message):
            continue
        path = f"messages.{number}"
        before = messages[number - 1] if number else {}
        if not isinstance(before, dict) or before.get("role") != "user":
            raise Rejected(f"{path}: a system message must come right after a user message")
        check_keys(path, message, frozenset({"role", "content"}), frozenset({"role", "content"}))
        for place, block in enumerate(content_of(message)):
            check_block(f"{path}.content.{place}", block, "user")
            if block["type"] != "text":
                raise Rejected(f"{path}.content.{place}.type: Input should be 'text'")


def _was_paused(messages: list[Any], memory: Memory) -> bool:
    """Whether the conversation ends with an answer that was paused, unchanged or behind parts
    paused before it.
    """
    last = content_of(messages[-1])
    return any(content and last[-len(content) :] == content for content in memory.paused)


def _check_message(number: int, message: Any) -> str:
    path = f"messages.{number}"
    if not isinstance(message, dict):
        raise Rejected(
            f"{path}: Input should be a valid dictionary or object to extract fields from"
        )
    check_keys(path, message, frozenset({"role", "content"}), frozenset({"role", "content"}))
    role = message["role"]
    if role == "system":
        raise Rejected(
            'messages: Unexpected role "system". The Messages API accepts a top-level `system` '
            "parameter, "
            'not "system" as an input message role.'
        )
    if role not in ("user", "assistant"):
        raise Rejected(f"{path}.role: Input should be 'user' or 'assistant'")
    if not isinstance(message["content"], str | list):
        raise Rejected(f"{path}.content: Input should be a valid list")
    if not message["content"]:
        raise Rejected(f"{path}: all messages must have non-empty content")
    for place, block in enumerate(content_of(message)):
        check_block(f"{path}.content.{place}", block, role)
    return str(role)


def _check_results(number: int, blocks: list[Json], asked: list[str]) -> None:
    """Hold the user's message ``blocks`` against the calls that the assistant ``asked`` just
    before.
    """
    answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    for place, block in enumerate(blocks):
        if block["type"] == "tool_result" and block["tool_use_id"] not in asked:
            raise Rejected(
                f"messages.{number}.content.{place}: unexpected `tool_use_id` found in "
                f"`tool_result` blocks: "
                f"{block['tool_use_id']}. Each `tool_result` block must have a corresponding "
                f"`tool_use` block in the "
                "previous message."
            )
    if twice := duplicates(answered):
        raise Rejected(
            f"messages.{number}: each tool_use must have a single result. Found multiple "
            f"`tool_result` blocks with "
            f"id: {twice[0]}"
        )
    if missing := [id_ for id_ in asked if id_ not in answered]:
        raise Rejected(
            f"messages.{number - 1}: `tool_use` ids were found without `tool_result` blocks "
            f"immediately after: "
            f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` "
            f"block in the next "
            "message."
        )
    if any(block["type"] != "tool_result" for block in blocks[: len(answered)]):
        raise Rejected(
            f"messages.{number}: Did not find {len(asked)} `tool_result` block(s) at the beginning "
            f"of this message. "
            "Messages following `tool_use` blocks must begin with a matching number of "
            "`tool_result` blocks."
        )


def _check_signatures(number: int, blocks: list[Json], memory: Memory) -> None:
    for place, block in enumerate(blocks):
        if block["type"] == "thinking" and block["signature"] != memory.sign(
            str(block["thinking"])
        ):
            raise Rejected(
                f"messages.{number}.content.{place}: Invalid `signature` in `thinking` block"
            )


def _check_thinking_came_back(messages: list[Any], memory: Memory) -> None:
    """Within the present round of tool use, an answer's thinking comes back before its calls,
    unchanged.
    """
    for number in range(len(messages) - 1, 0, -2):
        if not any(block["type"] == "tool_result" for block in content_of(messages[number])):
            return
        blocks = content_of(messages[number - 1])
        issued = next(
            (memory.reasoning.get(b["id"], []) for b in blocks if b["type"] == "tool_use"), []
        )
        if not issued:
            continue
        path = f"messages.{number - 1}.content.0"
        if blocks[0]["type"] not in THINKING:
            raise Rejected(
                f"{path}.type: Expected `thinking` or `redacted_thinking`, but found "
                f"`{blocks[0]['type']}`. A final "
                "`assistant` message must start with a thinking block (preceding the lastmost set "
                "of `tool_use` and "
                "`tool_result` blocks)."
            )
        if [block for block in blocks if block["type"] in THINKING] != issued:
            raise Rejected(
                f"{path}: `thinking` or `redacted_thinking` blocks in the latest assistant message "
                f"cannot be "
                "modified. These blocks must remain as they were in the original response."
            )
