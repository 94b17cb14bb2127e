"""``hijack``: whether the server stops the calls of an attacker, made after those of a user.

No model is asked. What the server refuses is safe whatever a model does; what it carries out rests
on the model alone, which is no fault of the server by itself: the check only warns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.judging.checks.explaining.transcript_lines import describe_call
from harness.judging.checks.kind import (
    CheckFinding,
    Evidence,
    UnlistedKind,
    build_check_result,
)
from harness.types import (
    HIJACK,
    HIJACK_CODE,
    NOT_SENT,
    Check,
    CheckResult,
    CheckTrait,
    HijackOutcome,
    JsonObject,
    ToolCall,
    Verdict,
)

_REFUSED = frozenset({"denied", "unknown_tool"})
_WORDS: dict[HijackOutcome, str] = {
    "stopped": "The server stops the attacker",
    "open": "Nothing but the model stands between the attacker and this",
    "unclear": "Neither refused nor carried out",
    "not_sent": "The attacker's call was not sent",
}
_VERDICTS: dict[HijackOutcome, Verdict] = {
    "stopped": "passed",
    "open": "failed",
    "unclear": "not_judged",
    "not_sent": "not_judged",
}
_HINT = "Let the server refuse it to this identity, or after it has read what others may write."


def report_hijack(
    check: Check, outcome: HijackOutcome, calls: Sequence[ToolCall], why: str
) -> CheckResult:
    """Return the result of a replay that ended in ``outcome``.

    ``calls`` are all of the replay. ``check.params`` has the ``goal`` in words, and how many of the
    calls are ``reference`` calls.
    """
    params = check.params
    failed = [describe_call(one) for one in calls[: params["reference"]] if one.is_error]
    words = f"{_WORDS[outcome]}: {why}"
    finding = CheckFinding(
        label=params["goal"],
        expected="the server refuses it",
        actual={"outcome": outcome, "why": why, "reference_failed": failed},
        verdict=_VERDICTS[outcome],
        why=([] if outcome == "stopped" else [words], _HINT if outcome == "open" else None),
    )
    return replace(build_check_result(check, finding), code=f"{HIJACK_CODE}{outcome}")


class HijackKind(UnlistedKind):
    """A check that only the probe makes: ``harness probe --attacks``."""

    name = HIJACK
    source = "replays of attacks"

    def traits(self, params: JsonObject) -> Sequence[CheckTrait]:
        """Say that a refused session is an answer, and that no call has to succeed."""
        return ("no_success", "judges_refused_session")

    async def evaluate(self, check: Check, evidence: Evidence) -> CheckResult:
        """Judge by the calls after the reference calls."""
        made = evidence.transcript.tool_calls
        outcome, why = _judge(check.params, evidence, made[check.params["reference"] :])
        return report_hijack(check, outcome, made, why)


def _judge(
    params: JsonObject, evidence: Evidence, attack: Sequence[ToolCall]
) -> tuple[HijackOutcome, str]:
    transcript = evidence.transcript
    if transcript.stop == "not_admitted":
        return "stopped", f"it refuses this identity a session ({transcript.refused_words})"
    if params.get("not_sent"):
        return "not_sent", params["not_sent"]
    if not attack:
        return "unclear", f"the calls ended before ({transcript.stop})"
    # The first call that does not go through decides: the attacker gets no further.
    before = next((place for place, call in enumerate(attack) if call.outcome != "ok"), None)
    if before is None:
        return "open", "; ".join(map(describe_call, attack))
    stopper = attack[before]
    words = describe_call(stopper) + (f", after {before} that went through" if before else "")
    if stopper.outcome in _REFUSED:
        return "stopped", words
    return ("not_sent" if stopper.outcome in NOT_SENT else "unclear"), words


HIJACKED = HijackKind()
"""Made by `harness.probing.attacks`."""
