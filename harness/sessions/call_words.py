"""Texts for the record of a call without a plain answer."""

from __future__ import annotations

import json
from typing import Any

from harness.base import find_shortcoming, load_json
from harness.types import JsonObject


def explain_malformed(raw: str) -> str:
    """Return why arguments are malformed and so are not sent."""
    try:
        # JSON that is merely too deep or has a number too long is told apart from no JSON.
        why = find_shortcoming(load_json(raw, strict=True))
    except ValueError:
        why = None
    return (
        "the arguments are not a JSON object"
        if why is None
        else f"harness did not send the arguments: {why}"
    )


def describe_required_input(result: JsonObject, *, may_answer: bool) -> str:
    """Return which input the server requests; a client behind the session may provide it."""
    requests = result.get("inputRequests")
    wanted = ", ".join(sorted(requests)) if isinstance(requests, dict) else ""
    what = f"the server asks for more input{f' ({wanted})' if wanted else ''}"
    return f"{what}, which {'the client did not give' if may_answer else 'harness cannot give'}"


def format_error_data(data: Any) -> str:
    """Return the data of an error as text."""
    return data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
