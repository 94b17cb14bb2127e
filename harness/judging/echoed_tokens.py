"""The check that applies to every case with a token: the server must not send the token back."""

from __future__ import annotations

from harness.types import CheckResult, ToolCall, Transcript

TOKEN_ECHOED = "token_echoed"  # noqa: S105 - the name of a check
"""Kind of the check that a server does not send a token back."""


def echo_checks(transcript: Transcript) -> tuple[CheckResult, ...]:
    """Return a failed check if an answer contained the caller's token."""
    made = [
        call
        for call in (
            # The server gets the same token before and after the conversation.
            *transcript.setup_calls,
            *transcript.tool_calls,
            *transcript.teardown_calls,
        )
        if call.echoed_token
    ]
    if not made:
        return ()
    return (
        CheckResult(
            kind=TOKEN_ECHOED,
            label=TOKEN_ECHOED,
            verdict="failed",
            expected="no token in any answer",
            actual=[call.tool for call in made],
            explanation=echo_words(made[0]) + "\nLine crossed: what the server allowed.",
            hint="Leave the Authorization header out of what tools return, log and put into "
            "errors: whoever reads a token can act as its user.",
            attempted=True,
            reached_server=True,
            executed=any(call.outcome == "ok" for call in made),
            line_crossed=True,
        ),
    )


def echo_words(call: ToolCall) -> str:
    """Return the finding on one line."""
    return (
        f"Token was sent back: the answer of {call.tool} contains the caller's token. It was "
        "removed before the model read it"
    )
