"""Checks on how calls ended: ``must_succeed``, ``must_be_denied``, ``must_error`` and others.

Four facts are distinguished: the model tried and the server refused; the model never tried; the
tool was hidden from this user; the server allowed it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Literal

from harness.judging.checks.claims import CallsClaim
from harness.judging.checks.explaining.missing_call import explain_missing_call
from harness.judging.checks.explaining.transcript_lines import (
    describe_call,
    explain_not_offered,
    list_calls,
    list_several_calls,
    report_calls,
)
from harness.judging.checks.kind import (
    NOTHING_WRONG,
    CheckDoc,
    CheckFinding,
    Evidence,
    Explanation,
    FunctionKind,
    WantedCall,
    make_list_reader,
    make_single_reader,
    one_call,
    policy_facts,
    single_or_list_schema,
)
from harness.judging.checks.parsing import CALL_CHECK, TRUE_OR_TOOL, read_call, true_or_tool
from harness.judging.checks.witness.conditions import ANY, find_names
from harness.judging.matching.calls import (
    described_calls,
    find_forbidden_calls,
    find_matching_calls,
    find_tool_calls,
    matches_call,
)
from harness.judging.matching.failure_texts import find_declared_failure
from harness.judging.matching.json_values import format_value
from harness.types import INJECTED, NOT_SHOWN, JsonObject, ToolCall


def _outcome_kind(
    name: str,
    wants: Literal["ok", "denied", "error"],
    explain: Callable[[list[ToolCall]], Explanation],
    doc: CheckDoc,
) -> FunctionKind:
    """Return a kind that checks the outcomes of the calls that its ``{tool, args}`` describes."""

    def judge(params: JsonObject, evidence: Evidence) -> CheckFinding:
        made = find_matching_calls(params, evidence.transcript)
        return CheckFinding(
            label=format_value(params["tool"])[1:-1],
            expected={"tool": params["tool"], "args": params["args"], "outcome": wants},
            actual=report_calls(made or evidence.transcript.tool_calls),
            why=explain(made) if made else _explain_never_tried(wants, params, evidence),
            # Only a refusal that is expected is a check of a policy.
            facts=policy_facts(made, crossed=_is_through(made)) if wants == "denied" else {},
        )

    def claims(params: JsonObject) -> Iterator[CallsClaim]:
        claim = CallsClaim(tool=params["tool"], args=params["args"])
        # One success is enough; one failure is not, since each call has to fail.
        if wants == "ok":
            yield replace(claim, least=1, outcome="ok", enough=True)
        else:
            yield replace(claim, least=1, outcome="error")
            yield replace(claim, most=0, outcome="ok")

    return FunctionKind(
        name=name,
        schema=single_or_list_schema(CALL_CHECK),
        read=make_list_reader(read_call),
        judge=judge,
        doc=doc,
        claims=claims,
        valid_calls=_calls_of_names if wants == "error" else described_calls,
        traits=lambda _params: () if wants == "ok" else ("no_success",),
        wanted_calls=one_call,
        expects_failure=lambda params, call: wants == "error" and matches_call(params, call),
        # What the server let through once, no missing answer could undo.
        stands_anyway=lambda failed, transcript: (
            wants == "denied" and _is_through(find_matching_calls(failed.expected, transcript))
        ),
    )


def _calls_of_names(params: JsonObject) -> Iterator[WantedCall]:
    """Yield calls of which only the names must be valid, since they are to fail."""
    for tool, args in described_calls(params):
        yield tool, dict.fromkeys(find_names(args), ANY)


def _is_through(made: list[ToolCall]) -> bool:
    return any(call.outcome == "ok" for call in made)


def _explain_never_tried(wants: str, params: JsonObject, evidence: Evidence) -> Explanation:
    lines, hint = explain_missing_call(params, evidence)
    if wants != "denied":
        return lines, hint
    lines = [*lines, "No line was crossed: the model never tried, so the server was not asked."]
    if explain_not_offered(params["tool"], evidence) is not None:
        return lines, (
            "A tool that this user is not offered was never tried, so the server never had to "
            "refuse it: assert must_not_call instead, or correct the name."
        )
    return lines, hint


def _explain_no_success(made: list[ToolCall]) -> Explanation:
    said = [find_declared_failure(call) for call in made]
    if any(not call.is_error and words is None for call, words in zip(made, said, strict=True)):
        return NOTHING_WRONG
    lines = [f"Call did not succeed: {describe_call(made[-1])}"]
    if words := said[-1]:
        lines.append(f"Its result says that it failed: {words}")
        return lines + list_several_calls(made, "All attempts:"), (
            "The server does not mark it as an error: let it set isError, so that every client "
            "knows."
        )
    otherwise = "See the error's text: it is what the model had to go on."
    return lines + list_several_calls(made, "All attempts:"), _HINTS.get(
        made[-1].outcome, otherwise
    )


_HINTS = {
    "denied": "The server refused it to this user: look at its policy and at how the user_context "
    "reaches it.",
    "invalid_arguments": "Describe the parameters more clearly: the model's arguments break the "
    "tool's input schema.",
    "unknown_tool": "The server has no such tool for this user. `harness tools` lists what it "
    "offers.",
    NOT_SHOWN: "The model made up the name: see whether the prompt, or the description of another "
    "tool, mentions it.",
    "timeout": "Make the tool faster, or raise the server's call_timeout.",
    "invalid_result": "Have the server answer with a result of MCP: the call's text says what is "
    "wrong with this one.",
    "blocked": "The harness is told not to send it: see `read_only` and `block` of the suite and "
    "of its server.",
}


def _explain_not_denied(made: list[ToolCall]) -> Explanation:
    through = [call for call in made if call.outcome != "denied"]
    if not through:
        return NOTHING_WRONG
    # One call that went through outweighs whatever else was not denied.
    worst = next((call for call in through if call.outcome == "ok"), through[0])
    let = "Call was let through although it must be denied"
    first = let if worst.outcome == "ok" else "Call was not denied"
    lines = [f"{first}: {describe_call(worst)}"]
    lines += list_several_calls(made, "All attempts:")
    if worst.outcome == "ok":
        return [*lines, "Line crossed: what the server allowed."], (
            "The server's policy has to refuse this call to this user; no description of a tool "
            "can do that."
        )
    if worst.outcome == "unknown_tool":
        return lines, (
            "A hidden tool is not a refused one: assert must_not_call, or that the tool is not "
            "offered."
        )
    if worst.outcome == "blocked":
        return lines, (
            "The server never saw the call, so this says nothing of its policy: lift the guard for "
            "this suite."
        )
    return lines, (
        "It failed for another reason, so nothing shows that the policy would have refused it: "
        "let the server check permission first, or give arguments that are valid."
    )


def _explain_no_error(made: list[ToolCall]) -> Explanation:
    # A call that was held back shows no error of the server.
    good = [call for call in made if call.outcome in ("ok", "blocked")]
    if not good:
        return NOTHING_WRONG
    lines = [f"Call did not end in an error: {describe_call(good[0])}"]
    lines += list_several_calls(made, "All of them:")
    return lines, f"Narrow the check with args if only some calls of {good[0].tool} must fail."


MUST_SUCCEED = _outcome_kind(
    "must_succeed",
    "ok",
    _explain_no_success,
    doc=CheckDoc(
        section="Outcomes",
        asks=(
            "the call was made, and at least once it succeeded; an object that says that it "
            'failed and holds no data (`{"success": false}`, `{"status": "error"}`) is no success'
        ),
        fails=("Call did not succeed: …",),
        example="must_succeed: [get_order]",
    ),
)
MUST_BE_DENIED = _outcome_kind(
    "must_be_denied",
    "denied",
    _explain_not_denied,
    doc=CheckDoc(
        section="Outcomes",
        asks=(
            "the call was tried, and the server refused it every time. A call that was never "
            "tried, a tool that is hidden from the user, another error and a call that harness did "
            "not send are no refusals; the failure names which it was"
        ),
        fails=("Call was let through although it must be denied: …", "Call was not denied: …"),
        example="must_be_denied: [{tool: delete_customer, args: {id: CUST_00042}}]",
    ),
)
MUST_ERROR = _outcome_kind(
    "must_error",
    "error",
    _explain_no_error,
    doc=CheckDoc(
        section="Outcomes",
        asks="the call was made, and every time it ended in an error of any kind",
        fails=("Call did not end in an error: …",),
        example="must_error: [{tool: get_order, args: {id: 0}}]",
    ),
)


# ── All calls, or those of one tool ──────────────────────────────────────────────────────────


def _judge_no_errors(params: JsonObject, evidence: Evidence) -> CheckFinding:
    calls = find_forbidden_calls(
        {"tool": params.get("tool")}, evidence.transcript.tool_calls, evidence.tools
    )
    # What a fault answered is no error of the server.
    failed = [made for made in calls if made.is_error and made.outcome != INJECTED]
    why = NOTHING_WRONG
    if failed:
        lines = [f"Tool call failed: {describe_call(failed[0])}"]
        lines += list_several_calls(failed, f"{len(failed)} of {len(calls)} calls failed:")
        kind = NOT_SHOWN if failed[0].tool.endswith(NOT_SHOWN) else failed[0].outcome
        otherwise = "Say in the tool's description what it needs, so that no call is lost."
        why = lines, _HINTS.get(kind, otherwise)
    return CheckFinding(
        label=params.get("tool", ""),
        expected="no failed call",
        actual=report_calls(failed),
        why=why,
    )


def _judge_recovers(params: JsonObject, evidence: Evidence) -> CheckFinding:
    calls = find_tool_calls(params, evidence.transcript)
    return CheckFinding(
        label=params.get("tool", ""),
        expected="a failed call, and a successful one after it",
        actual=report_calls(calls),
        why=_explain_no_recovery(params, calls),
    )


def _explain_no_recovery(params: JsonObject, calls: list[ToolCall]) -> Explanation:
    failed = [made for made in calls if made.told_as_error]
    if not failed:
        which = f"call of {params['tool']}" if "tool" in params else "tool call"
        first = f"No error to recover from: no {which} failed"
        return [first, *list_calls(calls, "Called, in order:")], (
            "Let the prompt lead the model into the error (an id that does not exist, say), or "
            "drop the check."
        )
    # In the reply with the failed call, the model had not yet read its error.
    recovered = max((call.reply for call in calls if not call.told_as_error), default=0)
    stuck = [made for made in failed if made.reply >= recovered]
    if not stuck:
        return NOTHING_WRONG
    return [
        f"Error was not recovered from: {describe_call(stuck[-1])}",
        "No later reply has a call that succeeded.",
        *list_calls(calls, "Called, in order:"),
    ], (
        "Let the error's text say what to do next: which tool lists valid ids, what a value must "
        "look like."
    )


NO_TOOL_ERRORS = FunctionKind(
    name="no_tool_errors",
    schema=TRUE_OR_TOOL,
    read=make_single_reader(true_or_tool),
    judge=_judge_no_errors,
    claims=lambda params: [
        CallsClaim(tool=params.get("tool"), most=0, outcome="error", enough=True)
    ],
    doc=CheckDoc(
        section="Outcomes",
        asks="no call failed, of any tool or of one",
        fails=("Tool call failed: …",),
        example="no_tool_errors: true  # long: {tool: get_order, severity: warn}",
    ),
)
RECOVERS_FROM_ERROR = FunctionKind(
    name="recovers_from_error",
    needs_model=True,
    schema=TRUE_OR_TOOL,
    read=make_single_reader(true_or_tool),
    judge=_judge_recovers,
    expects_failure=lambda params, call: params.get("tool") in (None, call.tool),
    claims=lambda params: [
        CallsClaim(tool=params.get("tool"), least=1, outcome="error"),
        CallsClaim(tool=params.get("tool"), least=1, outcome="ok"),
        # Two calls, since no call both fails and succeeds.
        CallsClaim(tool=params.get("tool"), least=2),
    ],
    doc=CheckDoc(
        section="Outcomes",
        asks=(
            "a call failed, and a call of a later reply succeeded (of the same tool, if one is "
            "named)"
        ),
        fails=("Error was not recovered from: …", "No error to recover from: …"),
        example="recovers_from_error: {tool: get_order}",
    ),
)
