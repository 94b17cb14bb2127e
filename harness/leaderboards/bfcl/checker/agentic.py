"""Whether the last message contains the answer as whole words, anywhere in it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.leaderboards.bfcl.checker.values import Fault, standardize_answer
from harness.leaderboards.bfcl.transcript_steps import Step


def find_answer_fault(turns: Sequence[Sequence[Step]], answers: Sequence[str]) -> Fault | None:
    """Return the fault if the last message of ``turns`` without a call lacks every answer."""
    if len(turns) != 1:
        return Fault("agentic:inference_error", f"there are {len(turns)} turns instead of one")
    words = [step.text for step in turns[0] if not step.calls]
    if not words or not words[-1]:
        return Fault("agentic:no_last_message", "there is no message that is not a call")
    said = standardize_answer(words[-1])
    if any(re.search(rf"\b{re.escape(standardize_answer(answer))}\b", said) for answer in answers):
        return None
    return Fault("agentic:answer_not_found", f"the last message contains none of {list(answers)!r}")
