"""Two guests in place of a model: a careless one, and a careful one."""

from typing import Any


def careless(messages: list[dict[str, Any]], _tools: object) -> Any:
    """Book, and book again after an error."""
    if messages[-1]["role"] == "tool" and not messages[-1]["is_error"]:
        return "The room is booked."
    return {"tool_calls": [{"name": "book_room", "arguments": {"guest": "Ada"}}]}


def careful(messages: list[dict[str, Any]], _tools: object) -> Any:
    """After an error, look before booking again."""
    if messages[-1]["role"] != "tool":
        return {"tool_calls": [{"name": "book_room", "arguments": {"guest": "Ada"}}]}
    if messages[-1]["is_error"]:
        return {"tool_calls": [{"name": "list_charges", "arguments": {"guest": "Ada"}}]}
    return "The room is booked."
