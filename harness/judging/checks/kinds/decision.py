"""``decision``: what the server let this identity do, and fields it must not give to it.

The model's choice does not matter, with one exception: a server that was never asked has decided
nothing. Whether fields are missing that others get is decided in `harness.judging`, where all
identities of a test are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args

from harness.base import InvalidValue, did_you_mean
from harness.judging.checks.absent_fields import (
    FIELD_NAMES,
    FIELDS,
    explain_given,
    find_given_fields,
    read_absent,
    read_masks,
    read_names,
)
from harness.judging.checks.claims import CallsClaim
from harness.judging.checks.explaining.transcript_lines import (
    describe_call,
    explain_not_offered,
    find_hiding_variant,
    format_call,
    is_truncated,
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
    make_list_reader,
    make_single_reader,
    policy_facts,
)
from harness.judging.checks.parsing import TEXT, check_tool, describe_type, long_form, read_mapping
from harness.judging.matching.calls import find_matching_calls
from harness.judging.matching.json_values import format_value
from harness.judging.matching.texts import format_line
from harness.types import NOT_SENT, Access, CheckTrait, JsonObject, JsonPath, ToolCall, Verdict

WORDS: tuple[str, ...] = tuple(word for word in get_args(Access) if word not in {"error", "mixed"})
"""The decisions that may be expected."""
_KEYS = ("is", "tool", "args", "without", "never")
_CROSSED = "Line crossed: what the server allowed."
# Other words for decisions, too unlike them for `did_you_mean`.
_SYNONYMS = {
    **dict.fromkeys(("allow", "ok", "permitted", "granted", "success"), "allowed"),
    **dict.fromkeys(("deny", "refused", "forbidden", "rejected", "blocked"), "denied"),
    **dict.fromkeys(("masked", "redacted", "partial"), "filtered"),
    **dict.fromkeys(("hide", "invisible", "not_listed", "absent"), "hidden"),
    **dict.fromkeys(("not_tried", "not attempted", "none", "untried"), "not_attempted"),
}


# ── Reading ──────────────────────────────────────────────────────────────────────────────────


def read_words(value: Any, path: JsonPath) -> list[str]:
    """Return the accepted decisions, from one word or a list.

    Raises:
        InvalidValue: one is unknown.
    """
    if not isinstance(value, list | tuple):
        return [_read_word(value, path)]
    if not value:
        meant = f"Write some of {', '.join(WORDS)}."
        raise InvalidValue("this list is empty", path=path, meant=meant)
    return [_read_word(item, (*path, index)) for index, item in enumerate(value)]


def _read_word(value: Any, path: JsonPath) -> str:
    offer = f"A decision is one of {', '.join(WORDS)}."
    if not isinstance(value, str):
        words = f"this is {describe_type(value)} where a decision belongs"
        raise InvalidValue(words, path=path, meant=offer)
    if value not in WORDS:
        known = _SYNONYMS.get(value.lower())
        meant = f"Did you mean {known!r}?" if known else did_you_mean(value, WORDS) or offer
        raise InvalidValue(f"there is no decision {format_value(value)}", path=path, meant=meant)
    return value


def _read_params(value: Any) -> JsonObject:
    if not isinstance(value, Mapping):
        words = read_words(value, ())
        if words == ["hidden"]:
            raise InvalidValue(
                "'hidden' does not say which tool", meant="Write {is: hidden, tool: …}."
            )
        _refuse_every_outcome(words, ("allowed", "denied", "not_attempted"), ())
        return {"is": words}
    found = read_mapping(value, (), optional=_KEYS)
    if "never" in found:
        _read_never(found)
    if not found.keys() & {"is", "without"}:
        raise InvalidValue(
            "neither 'is' nor 'without' says what is decided", meant="Write {is: denied, tool: …}."
        )
    if "tool" in check_tool(found, ()):
        found.setdefault("args", {})
    if "is" in found:
        found["is"] = read_words(found["is"], ("is",))
        if "hidden" in found["is"] and "tool" not in found:
            raise InvalidValue(
                "'hidden' does not say which tool", path=("is",), meant="Name it under 'tool:'."
            )
    if "without" in found:
        found["without"] = read_absent(found["without"])
    else:
        tool = ("hidden",) if "tool" in found else ()
        _refuse_every_outcome(found["is"], ("allowed", "denied", "not_attempted", *tool), ("is",))
    return found


def _read_never(found: dict[str, Any]) -> None:
    """Complete a decision with what follows from ``never``: a refusal, or fields left out.

    ``harness probe`` looks for what it names on every other road, too.
    """
    if found["never"] is True:
        found.setdefault("is", ["denied", "hidden"])
        if not {"denied", "hidden"}.issuperset(read_words(found["is"], ("is",))):
            words = "who never gets the record is refused it"
            raise InvalidValue(words, path=("is",), meant="Write 'never' alone.")
        return
    if found["never"] in ("", [], False, None):
        meant = "Write 'never: true' of the record, or the names of fields."
        raise InvalidValue("this names nothing", path=("never",), meant=meant)
    found["never"] = read_names(found["never"], ("never",))
    found.setdefault("without", found["never"])


def _refuse_every_outcome(words: Sequence[str], outcomes: Sequence[str], path: JsonPath) -> None:
    if set(outcomes) <= set(words):
        raise InvalidValue(
            "this takes every outcome, so it cannot fail",
            path=path,
            meant="Leave out what would be wrong, or the whole check.",
        )


def _read_all(value: Any) -> Sequence[tuple[JsonPath, JsonObject]]:
    """Return one check, or one for each mapping of a list; a list of words is one check."""
    if isinstance(value, list | tuple) and any(isinstance(each, Mapping) for each in value):
        return make_list_reader(_read_item)(value)
    return make_single_reader(_read_params)(value)


def _read_item(value: Any, path: JsonPath) -> JsonObject:
    if not isinstance(value, Mapping):
        # of words one must hold, and of mappings each: a list of both would say neither
        raise InvalidValue(
            f"this is {describe_type(value)} in a list of mappings, each of which states a "
            f"decision",
            path=path,
            meant="Write {is: allowed} in place of the word 'allowed'.",
        )
    try:
        return _read_params(value)
    except InvalidValue as error:
        raise InvalidValue(error.message, path=(*path, *error.path), meant=error.meant) from error


# ── Judging ──────────────────────────────────────────────────────────────────────────────────


def _judge_decision(params: JsonObject, evidence: Evidence) -> CheckFinding:
    calls = evidence.transcript.tool_calls
    made = find_matching_calls(params, evidence.transcript) if "tool" in params else list(calls)
    found, wanted = _determine_decision(params, made, evidence), params.get("is", ())
    masks = read_masks(params)
    # In all calls, not only in those of the tool: no result may hold these fields.
    given = list(find_given_fields(masks, calls))
    cut = next(filter(is_truncated, calls), None) if "without" in params else None
    # Whether `allowed` is in fact `filtered` depends on the other identities: see
    # `harness.judging.run_judge`.
    alike = {"allowed", "filtered"} if found == "allowed" else {found}
    verdict: Verdict | None = None
    why = NOTHING_WRONG
    if wanted and alike.isdisjoint(wanted):
        why = _explain_mismatch(params, found, made, evidence)
    elif given:
        why = _explain_given_fields(given)
    # Last: what is missing matters only where the rest shows no forbidden field.
    elif cut is not None:
        verdict, part = "not_judged", f"Only a part of the result of {format_call(cut)} was kept"
        why = [f"{part}, so the rest may give {' or '.join(masks)}"], None
    label = [
        " or ".join(wanted),
        format_value(params["tool"])[1:-1] if "tool" in params else "",
        f"without {', '.join(masks)}" if "without" in params else "",
    ]
    return CheckFinding(
        label=" ".join(filter(None, label)),
        verdict=verdict,
        expected={key: params[key] for key in _KEYS if key in params},
        actual={"is": found, "calls": report_calls(made)},
        why=why,
        facts=policy_facts(made, crossed=_CROSSED in why[0]),
    )


def _explain_given_fields(given: Sequence[tuple[ToolCall, str, Any]]) -> Explanation:
    call, field, value = given[0]
    shown = f"{field} = {format_value(value, 8)} in {format_call(call, 80)}"
    lines = [f"{explain_given(value)}: {shown}"]
    if others := dict.fromkeys(
        f"{field} in {format_call(call, 60)}" for call, field, _ in given[1:]
    ):
        lines.append(f"Also: {format_line('; '.join([*others][:4]), 240)}")
    return [*lines, _CROSSED], (
        "The server's policy has to leave the field out of every result for this identity, or mask "
        "it."
    )


def _determine_decision(params: JsonObject, made: Sequence[ToolCall], evidence: Evidence) -> Access:
    # Whoever is refused a session is denied all that is in it.
    if evidence.transcript.refused_status is not None:
        return "denied"
    outcomes = {call.outcome for call in made} - NOT_SENT
    # Before the list of tools: one that is not listed and works all the same is allowed.
    if "ok" in outcomes:
        return "allowed"
    if "tool" in params and _is_hidden(params["tool"], evidence):
        return "hidden"
    if "denied" in outcomes:
        return "denied"
    return "error" if outcomes else "not_attempted"


def _is_hidden(tool: str, evidence: Evidence) -> bool:
    """Whether the server, not a variant, keeps ``tool`` from the list."""
    return evidence.tools.get(tool) is None and find_hiding_variant(tool, evidence) is None


def _explain_mismatch(
    params: JsonObject, found: Access, made: Sequence[ToolCall], evidence: Evidence
) -> Explanation:
    asked = params.get("tool", "a tool")
    first = f"Decision is {found.replace('_', ' ')}, expected {' or '.join(params['is'])}"
    # A call that went through tells more than the last attempt.
    told = next((call for call in made if call.outcome == "ok"), made[-1] if made else None)
    lines = [f"{first}: {describe_call(told)}" if told else first]
    lines += list_several_calls(made, "All attempts:")
    if found == "allowed":
        if "hidden" in params["is"] and "tool" in params and _is_hidden(asked, evidence):
            lines.append("The tool is not in the list of this identity, and works all the same.")
        return [*lines, _CROSSED], (
            "The server's policy has to keep this from this identity; no description of a tool can "
            "do that."
        )
    if found == "not_attempted" and (variant := find_hiding_variant(asked, evidence)) is not None:
        return [*lines, f"The variant {variant} does not show {asked} to the model."], (
            "Let the variant show the tool, or leave this case out under the variant."
        )
    if found == "not_attempted":
        return [
            *lines,
            "Nothing was crossed: the model called nothing of it, so the server was never asked.",
        ], (
            f"Reword the prompt so that the model tries {asked}, or accept it: "
            f"[{', '.join(params['is'])}, not_attempted]. `harness probe` asks the server without "
            "a model."
        )
    if found == "hidden":
        reason = explain_not_offered(asked, evidence)
        return [*lines, *([reason] if reason else [])], (
            "The tool is missing from the list that this identity is shown: look at the server's "
            "policy, and at how the identity reaches it."
        )
    if found == "denied":
        return [*lines, "Nothing was crossed: the server refused more than it should."], (
            "Look at the server's policy, and at how the identity reaches it."
        )
    return lines, (
        "It failed for another reason than a refusal, so nothing shows what the policy would have "
        "said."
    )


def _yield_claims(params: JsonObject) -> Iterator[CallsClaim]:
    words, through = set(params.get("is", WORDS)), {"allowed", "filtered"}
    tool, args = params.get("tool"), params.get("args", {})
    if words == {"not_attempted"}:
        yield CallsClaim(tool=tool, args=args, most=0)
    # A refusal needs an attempt.
    if words == {"denied"}:
        yield CallsClaim(tool=tool, args=args, least=1)
    if words <= through:
        yield CallsClaim(tool=tool, args=args, least=1, outcome="ok")
    if not words & through:
        yield CallsClaim(tool=tool, args=args, most=0, outcome="ok")


_WORD: JsonObject = {"enum": list(WORDS)}
_DECIDED: JsonObject = {"anyOf": [_WORD, {"type": "array", "items": _WORD, "minItems": 1}]}
_OF_TOOL = long_form(
    {
        "is": _DECIDED,
        "tool": TEXT,
        "args": {"type": "object"},
        "without": FIELDS,
        "never": {"anyOf": [{"const": True}, *FIELD_NAMES]},
    },
    required=(),
)


class _Decision(FunctionKind):
    """A decision about a tool needs it, unless it is to be hidden or not tried."""

    def needed_tools(self, params: JsonObject) -> Iterable[str]:
        wanted = params.get("is", ("allowed",))
        untried = {"hidden", "not_attempted"}.issuperset(wanted)
        return () if untried or "tool" not in params else (params["tool"],)


def _traits(params: JsonObject) -> Sequence[CheckTrait]:
    wanted = params.get("is", ())
    unsuccessful = bool(wanted) and {"denied", "hidden", "not_attempted"}.issuperset(wanted)
    return ("decides_access", "judges_refused_session", *(("no_success",) if unsuccessful else ()))


DECISION = _Decision(
    name="decision",
    needs_session="tools",
    schema={
        "anyOf": [*_DECIDED["anyOf"], _OF_TOOL, {"type": "array", "items": _OF_TOOL, "minItems": 1}]
    },
    read=_read_all,
    judge=_judge_decision,
    traits=_traits,
    # What the server let through, no missing answer could change.
    stands_anyway=lambda failed, _transcript: bool(failed.actual["is"] == "allowed"),
    claims=_yield_claims,
    doc=CheckDoc(
        section="Outcomes",
        asks=(
            "what the server let this identity do with the calls (`tool` and `args`, or "
            "any): `allowed`, `filtered`, `denied`, `hidden`, `not_attempted`, or a list "
            "of what is right; `without` names fields that no result may hold, or "
            "`{fields, mask, readable}`, see [matrix.md](matrix.md); `never` (`true`, or fields) "
            "holds on every other road, too; a list of such mappings states several decisions"
        ),
        fails=(
            "Decision is allowed, expected denied: …",
            "Field was given although it must be left out: …",
        ),
        example=(
            "decision: {is: filtered, tool: get_customer, without: [email]}  # short: "
            "denied, or [denied, not_attempted]"
        ),
    ),
)
