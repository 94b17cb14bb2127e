"""``must_be_refused``: the server refuses this caller a session.

It checks callers whose credential must not be accepted. No model is asked then, since there is
nobody to speak for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.base import InvalidValue
from harness.judging.checks.claims import CallsClaim
from harness.judging.checks.kind import (
    FACTS,
    NOTHING_WRONG,
    CheckDoc,
    CheckFinding,
    Evidence,
    Explanation,
    FunctionKind,
    make_single_reader,
)
from harness.judging.checks.parsing import describe_type, long_form, read_mapping
from harness.judging.matching.texts import clip_text
from harness.types import FLAWS, Credential, JsonObject

_SHOWN: dict[Credential, str] = {
    "valid": "a valid credential",
    "none": "no token at all",
    **{credential: flaw.words for credential, flaw in FLAWS.items()},
}
_HINTS: dict[Credential, str] = {
    "none": "Have the server ask for a token before it says anything: 401 with WWW-Authenticate.",
    **{credential: flaw.hint for credential, flaw in FLAWS.items()},
}


def _read_params(value: Any) -> JsonObject:
    if value is True:
        return {}
    if isinstance(value, Mapping):
        return read_mapping(value, ())
    meant = "Leave it out where the caller may come in." if value is False else None
    raise InvalidValue(f"this is {describe_type(value)} where only true belongs", meant=meant)


def _judge_refusal(_params: JsonObject, evidence: Evidence) -> CheckFinding:
    status, credential = evidence.transcript.refused_status, evidence.case.caller.credential
    entered = status is None
    return CheckFinding(
        label="",
        expected={"refused": True, "credential": credential},
        actual={"refused": not entered, "status": status},
        why=_explain_entry(credential, evidence) if entered else NOTHING_WRONG,
        # The call that it is about is the opening of a session, which always reaches the server.
        facts={**dict.fromkeys(FACTS, True), "executed": entered, "line_crossed": entered},
    )


def _explain_entry(credential: Credential, evidence: Evidence) -> Explanation:
    calls, offered = evidence.transcript.tool_calls, [tool.name for tool in evidence.tools.tools]
    tools = clip_text(", ".join(offered), 240) or "none"
    lines = [
        f"Caller was let in although it must be refused: it showed {_SHOWN[credential]}",
        f"It was offered {len(offered)} tools: {tools}",
    ]
    if carried := dict.fromkeys(call.tool for call in calls if not call.is_error):
        lines.append(f"These calls were carried out: {clip_text(', '.join(carried), 240)}")
    # Refused calls look like a refused caller, but whoever makes calls was let in.
    if any(call.outcome == "denied" for call in calls):
        return lines, (
            "The server refuses calls, not the caller: assert must_be_denied if that is what it "
            "should do."
        )
    otherwise = "The server has to answer such a caller with HTTP 401 or 403."
    return lines, _HINTS.get(credential, otherwise)


MUST_BE_REFUSED = FunctionKind(
    name="must_be_refused",
    needs_session=True,
    schema={"anyOf": [{"const": True}, long_form({}, required=())]},
    read=make_single_reader(_read_params),
    judge=_judge_refusal,
    traits=lambda _params: ("no_success", "judges_refused_session", "wants_refused_session"),
    claims=lambda _params: [CallsClaim(most=0)],
    doc=CheckDoc(
        section="Outcomes",
        asks=(
            "the server refused this caller a session: HTTP 401 or 403, or a JSON-RPC error that "
            "refuses the caller. No model is asked then. Use it for tokens that the server must "
            "not accept ([negative identities](identity.md#negative-identities))"
        ),
        fails=("Caller was let in although it must be refused: …",),
        example="must_be_refused: true  # long: {severity: warn}",
    ),
)
