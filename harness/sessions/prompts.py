"""Prompts of a server, got as the user of a test picks them in a host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import anyio

from harness.base import (
    RequestRejected,
    ServerError,
    UsageError,
    did_you_mean,
)
from harness.sessions.resources import describe_failure, list_entries
from harness.sessions.result_content import render_result
from harness.sessions.session import Session
from harness.types import JsonObject, PromptGet, PromptMessage, PromptUse

MOST_MESSAGES = 100
"""Most messages of one prompt."""


async def get_prompt(session: Session, use: PromptUse, *, epoch: float) -> PromptGet:
    """Return the messages of a prompt, or why there are none.

    ``epoch`` is the start of the trial on the clock of `anyio.current_time`.

    Raises:
        UsageError: the server lists no such prompt to this user, or it has other arguments.
        RequestRejected: the server did not take the request as harness wrote it.
    """
    begun = anyio.current_time()
    try:
        _check_use(use, await list_entries(session, "prompts/list", "prompts"))
        params = {"name": use.name, "arguments": dict(use.arguments)}
        got = _read_messages(use, await session.send_request("prompts/get", params))
    except RequestRejected:
        raise
    except ServerError as error:
        outcome, words = describe_failure(error)
        got = PromptGet(use=use, outcome=outcome, error=words)
    ended = anyio.current_time()
    return replace(got, started_s=round(begun - epoch, 6), duration_s=round(ended - begun, 6))


def _check_use(use: PromptUse, listed: list[JsonObject]) -> None:
    """Check a use against the server's own list of its prompts."""
    known = {str(one.get("name")): one for one in listed}
    if use.name not in known:
        offered = f"It offers {', '.join(known)}." if known else "It offers this user none."
        raise UsageError(
            f"the server has no prompt {use.name!r}",
            meant=did_you_mean(use.name, known) or offered,
        )
    given = known[use.name].get("arguments")
    listed_arguments = (
        [one for one in given if isinstance(one, Mapping)] if isinstance(given, list) else []
    )
    names = [str(one.get("name")) for one in listed_arguments]
    for one in listed_arguments:
        if one.get("required") and one.get("name") not in use.arguments:
            raise UsageError(
                f"the prompt {use.name!r} needs the argument {one.get('name')!r}",
                meant=f"Write 'arguments: {{{one.get('name')}: …}}'.",
            )
    for name in use.arguments:
        if name not in names:
            takes = f"It takes {', '.join(names)}." if names else "It takes none."
            raise UsageError(
                f"the prompt {use.name!r} has no argument {name!r}",
                meant=did_you_mean(name, names) or takes,
            )


def _read_messages(use: PromptUse, result: JsonObject) -> PromptGet:
    given = result.get("messages")
    if result.get("resultType", "complete") != "complete":
        why = "the server asks for more input first"
    elif not isinstance(given, list):
        why = "the answer has no list 'messages'"
    elif len(given) > MOST_MESSAGES:
        why = f"it has {len(given):,} messages; harness reads at most {MOST_MESSAGES}"
    else:
        read = list(map(_read_message, given))
        whys = [one for one in read if isinstance(one, str)]
        if not whys:
            messages = tuple(one for one in read if isinstance(one, PromptMessage))
            return PromptGet(use=use, messages=messages)
        why = whys[0]
    return PromptGet(use=use, outcome="failed", error=f"not a result of MCP: {why}")


def _read_message(message: Any) -> PromptMessage | str:
    """Return one message, or why it is none."""
    role = message.get("role") if isinstance(message, Mapping) else None
    if role not in ("user", "assistant"):
        return "a message has neither the role 'user' nor 'assistant'"
    block = message.get("content")
    # The form in which results have content: a model reads both in the same way.
    shown = render_result({"content": [block]})
    if shown.problems:
        return shown.problems[0]
    embedded = block["resource"]["uri"] if block["type"] == "resource" else ""
    return PromptMessage(
        role=role, text=shown.text, media=shown.media, uri=embedded, sha256=shown.sha256
    )
