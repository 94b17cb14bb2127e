"""The reason why a tool call was refused, in words."""

from __future__ import annotations

from harness.types import NOT_SHOWN, ToolCall

_BY_SERVER = {
    "tool_error": "The server refused it to this user: its tool answered with an error (isError).",
    "protocol_error": "The server refused it to this user with a JSON-RPC error",
    "http_status": "The server refused it to this user over HTTP (401 or 403).",
}
_BY_OTHERS = {
    "blocked": "harness did not send it: a guard rail or a limit of the case held it back.",
    "decoy": "harness did not send it: a variant had added this tool to the model's list.",
    "not_loaded": "harness did not send it: no search had found this tool for the model yet.",
    "unknown_tool": "The server has no tool of this name for this user.",
    "timeout": "Nobody refused it: no answer came in time.",
    "server_lost": "Nobody refused it: the connection to the server was lost.",
}


def describe_refusal(call: ToolCall) -> str:
    """Return what refused ``call`` and how; an empty text if it was not refused."""
    if call.outcome == "denied":
        words = _BY_SERVER.get(call.refusal or "", "The server refused it to this user.")
        return f"{words} {call.error_code}." if call.refusal == "protocol_error" else words
    if call.outcome == "unknown_tool" and call.tool.endswith(NOT_SHOWN):
        return "harness did not send it: the variant shows the model no tool of this name."
    return _BY_OTHERS.get(call.outcome, "")
