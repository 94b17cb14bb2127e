"""What tools returned and the model was not given: pictures, sound, binary resources."""

from __future__ import annotations

from harness.judging.trial_warnings import build_warning
from harness.types import CheckResult, Transcript


def unseen_warnings(transcript: Transcript) -> tuple[CheckResult, ...]:
    """Return a warning for each call whose result the model was given only in part.

    It does not change the verdict. An agent gets results from the server itself, and whole.
    """
    if transcript.agent is not None:
        return ()
    return tuple(
        build_warning(
            "unseen_content",
            f"not given to the model: content of {call.tool}",
            f"{call.tool} returned {'; '.join(call.unseen)}. Harness gives models the "
            "text of results: this model was told that the content is there, and has not seen it.",
            expected="text",
            actual=list(call.unseen),
            hint="Do not expect of the answer what only that content shows; a tool can return a "
            "description as text beside it.",
        )
        for call in transcript.tool_calls
        if call.unseen
    )
