"""The prompt of a server that begins a conversation (``use_prompt``)."""

from __future__ import annotations

from dataclasses import replace

from harness.base import UsageError
from harness.runner.content.given_content import ResultForm
from harness.sessions import Session, get_prompt
from harness.types import PromptGet, PromptUse


async def get_opening(
    session: Session, use: PromptUse, words: str, form: ResultForm, epoch: float
) -> PromptGet:
    """Return the prompt ``use``, before which stands nothing and behind which stand ``words``.

    Raises:
        UsageError: the server lists no such prompt to this user, it has other arguments, or the
            user would say nothing at its end.
    """
    got = await get_prompt(session, use, epoch=epoch)
    got = replace(
        got,
        alone=words == str(use),
        messages=tuple(
            replace(
                one,
                media=tuple(
                    replace(each, given=_is_given(one.role, each.kind, form)) for each in one.media
                ),
            )
            for one in got.messages
        ),
    )
    # No API continues the words of the assistant, and a host waits there for its user.
    if got.outcome == "ok" and got.alone and [one.role for one in got.messages][-1:] != ["user"]:
        raise UsageError(
            f"the prompt {use.name!r} does not end with words of the user",
            meant="Add what the user says then: 'prompt: …'.",
        )
    return got


def _is_given(role: str, kind: str | None, form: ResultForm) -> bool:
    # APIs take pictures only from the user.
    return role == "user" and kind in form.takes
