"""Make the view of a trial: what its identity saw, for comparison with other identities."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from harness.base import canonical_json
from harness.judging.checks.absent_fields import read_masks
from harness.judging.policy import View
from harness.types import (
    CheckResult,
    JsonObject,
    Tool,
    ToolList,
    Transcript,
    TrialResult,
    UserMessage,
)


def build_view(
    result: TrialResult,
    transcript: Transcript,
    tools: Mapping[str, ToolList],
    suites: JsonObject,
) -> View:
    """Return what the identity of a trial saw.

    Args:
        result: The trial's result.
        transcript: Its transcript.
        tools: Digest → tool list, for every logged list.
        suites: Suite name → its part of a log's header.
    """
    facts = result.case
    said = [message.text for message in transcript.messages if isinstance(message, UserMessage)]
    sent = [
        json.dumps(call.arguments, ensure_ascii=False, default=dict)
        for call in transcript.setup_calls
    ]
    context = (
        ""
        if facts.user_context is None
        else json.dumps(facts.user_context, ensure_ascii=False, default=dict)
    )
    # The suite's own words are no secrets of the server, so all of them count as known.
    system = suites.get(result.suite, {}).get("system_prompt") or ""
    return View(
        identity=facts.identity
        or ("nobody" if facts.user_context is None else canonical_json(facts.user_context)),
        calls=transcript.server_calls,
        tools=tools.get(transcript.tools_digest) or _named_only(transcript.tools),
        answer=transcript.answer,
        known=tuple(text for text in (*said, *sent, context, system) if text),
        attributes=facts.user_context or {},
        beside=transcript.beside,
        suite=result.suite,
        case=facts.name,
        # Each entrant by itself: another model makes other calls.
        group=f"{facts.group} {result.entrant}",
        key=result.key,
        nobody=not facts.user_context,
        meant=is_meant(result),
        masks=_collect_masks(result),
        refused=transcript.refused_status is not None,
        refused_by=transcript.refusal,
        rightful=not any(_goes_too_far(check) for check in result.checks),
    )


def _collect_masks(result: TrialResult) -> Mapping[str, float]:
    """Return, by field, the share that a mask may leave readable by the suite's checks."""
    return {
        # `mask: none` is -1 for the check itself; of a mask, it leaves nothing readable.
        field.casefold(): max(most, 0.0)
        for check in result.checks
        if "decides_access" in check.traits and isinstance(check.expected, Mapping)
        for field, most in read_masks(check.expected).items()
        if most is not None
    }


def _named_only(names: Iterable[str]) -> ToolList:
    return ToolList(tools=tuple(Tool(name=name, input_schema={}) for name in names))


def _goes_too_far(check: CheckResult) -> bool:
    """Whether the identity saw data that the suite says it must not see."""
    if (
        "decides_access" not in check.traits
        or check.verdict != "failed"
        or not isinstance(check.actual, Mapping)
    ):
        return False
    return check.actual.get("is") == "allowed"


def is_meant(result: TrialResult) -> bool:
    """Return whether the suite expects the identity's request to be allowed."""
    return any(
        "decides_access" in check.traits and "allowed" in (check.expected or {}).get("is", ())
        for check in result.checks
    )
