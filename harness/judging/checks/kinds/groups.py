"""Groups of assertions: ``any_of``, ``all_of`` and ``not``.

A group takes mappings written like ``assertions:`` itself, and groups nest. A member that cannot be
judged stays unknown unless the others decide: one passed member is enough for ``any_of``, whatever
a judge would say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

from harness.base import HarnessError, InvalidValue, JudgeError, did_you_mean
from harness.judging.checks import VOCABULARY, evaluate_check
from harness.judging.checks.evidence import Evidence
from harness.judging.checks.kind import (
    CheckDoc,
    CheckFinding,
    CheckKind,
    Grouping,
    build_check_result,
)
from harness.judging.checks.parsing import describe_type, long_form, read_mapping
from harness.judging.checks.policy_facts import combine_facts
from harness.judging.checks.registry import KINDS
from harness.judging.checks.unprefixed_names import strip_server_prefixes
from harness.judging.matching.json_values import to_plain_json
from harness.judging.matching.texts import clip_text
from harness.types import Check, CheckResult, JsonObject, JsonPath, Verdict

_MAX_MEMBERS_TOLD = 5
_ROOM, _LABEL = 1_400, 150  # characters for all members that are told, and of the head of each
_Options: TypeAlias = tuple[tuple[Check, ...], ...]


# ── Reading ──────────────────────────────────────────────────────────────────────────────────


def _read_members(value: Any, path: JsonPath) -> tuple[Check, ...]:
    """Return the checks of one mapping of assertions."""
    if not isinstance(value, Mapping):
        raise InvalidValue(
            f"this is {describe_type(value)} where a mapping of assertions belongs",
            path=path,
            meant="Write it like assertions: {must_call: [get_orders]}.",
        )
    members: list[Check] = []
    for name, part in value.items():
        if name not in KINDS:
            known = KINDS.list_names()
            meant = did_you_mean(str(name), known) or f"Known: {', '.join(known)}."
            raise InvalidValue(f"there is no check {name!r}", path=(*path, str(name)), meant=meant)
        members += _parse_checks(name, part, path)
    if not members:
        raise InvalidValue("this group has no check", path=path)
    return tuple(members)


def _parse_checks(name: str, value: Any, path: JsonPath) -> list[Check]:
    try:
        parsed = VOCABULARY.parse(name, value)
    except InvalidValue as error:
        raise InvalidValue(
            error.message, path=(*path, name, *error.path), meant=error.meant
        ) from error
    for inside, check in parsed:
        if "severity" in check.params:
            raise InvalidValue(
                "a severity belongs to the whole group, not to a part of it",
                path=(*path, name, *inside),
                meant="Write {of: …, severity: warn} for the group.",
            )
    return [check for _, check in parsed]


def _read_list(value: Any) -> tuple[JsonObject, _Options]:
    """Return the severity, if given, and the checks of each mapping of the list."""
    severity, inner, path = _unwrap_options(value)
    if not isinstance(inner, list | tuple) or not inner:
        empty = isinstance(inner, list | tuple)
        raise InvalidValue(
            "this list is empty"
            if empty
            else f"this is {describe_type(inner)} where a list of assertions belongs",
            path=path,
            meant="Write - must_call: [get_orders], one item for each.",
        )
    return severity, tuple(_read_members(item, (*path, index)) for index, item in enumerate(inner))


def _read_mapping(value: Any) -> tuple[JsonObject, _Options]:
    """Return the severity, if given, and the checks of a single mapping."""
    severity, inner, path = _unwrap_options(value)
    return severity, (_read_members(inner, path),)


def _unwrap_options(value: Any) -> tuple[JsonObject, Any, JsonPath]:
    """Take ``{of: …, severity: …}`` apart; anything else is the content itself."""
    # Called for what it refuses: values that are not JSON.
    to_plain_json(value)
    if not isinstance(value, Mapping) or "of" not in value:
        return {}, value, ()
    found = read_mapping(value, (), required=("of",))
    return {key: found[key] for key in ("severity",) if key in found}, found["of"], ("of",)


# ── Judging ──────────────────────────────────────────────────────────────────────────────────


def _all_of_verdict(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict of checks that must all pass."""
    if "failed" in verdicts:
        return "failed"
    return "not_judged" if "not_judged" in verdicts else "passed"


def _any_of_verdict(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict of checks of which one must pass."""
    if "passed" in verdicts:
        return "passed"
    return "not_judged" if "not_judged" in verdicts else "failed"


def _not_verdict(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict of what must not hold."""
    found: Mapping[Verdict, Verdict] = {
        "passed": "failed",
        "failed": "passed",
        "not_judged": "not_judged",
    }
    return found[verdicts[0]]


async def _evaluate_member(member: Check, evidence: Evidence) -> CheckResult:
    # A forbidden tool is forbidden on each server; a group leaves this to its own members.
    if evidence.must_not_hold and not member.options:
        evidence = strip_server_prefixes(member, evidence)
    try:
        return await evaluate_check(member, evidence)
    except JudgeError as error:  # unknown: the other members may still decide
        return CheckResult(
            kind=member.kind,
            label=member.kind,
            verdict="not_judged",
            explanation=str(error),
            at=member.at,
        )


def _member_schema(name: str) -> JsonObject:
    """Return the schema of a member: of a nested group, only that it is a list or a mapping."""
    group = KINDS.get(name).group
    if group is None:
        return VOCABULARY.schema(name)
    # Groups nest without end, and so would a schema that is written out.
    return {"type": "object" if group == "none" else ["array", "object"]}


def _format_verdict(result: CheckResult) -> str:
    return result.verdict.replace("_", " ")


@dataclass(frozen=True, kw_only=True)
class _GroupKind(CheckKind):
    """A kind of check that combines others."""

    # As in `FunctionKind`: declared again, to be fields of the dataclass.
    name: str
    """Its name in suites."""
    read: Callable[[Any], tuple[JsonObject, _Options]]
    """Turns the suite's value into params and options."""
    combine: Callable[[Sequence[Verdict]], Verdict]
    """Combines the verdicts of the options."""
    failed: str
    """The first words of a failure."""
    doc: CheckDoc | None
    """Its row in the documentation."""
    group: Grouping | None
    """Which of its options must hold."""

    @cached_property
    def schema(self) -> JsonObject:  # type: ignore[override] # all kinds must be known for it
        """JSON Schema of the value; the contents of nested groups are left to the reader."""
        members: JsonObject = {
            "type": "object",
            "properties": {name: _member_schema(name) for name in KINDS.list_names()},
            "additionalProperties": False,
            "minProperties": 1,
        }
        inner = (
            members if self.group == "none" else {"type": "array", "items": members, "minItems": 1}
        )
        return {"anyOf": [inner, long_form({"of": inner}, required=("of",))]}

    def parse(self, value: Any) -> Sequence[tuple[JsonPath, Check]]:
        """Return the one check that ``value`` asks for, with the checks inside it.

        Raises:
            InvalidValue: with the path to the invalid part.
        """
        params, options = self.read(value)
        return (((), Check(kind=self.name, params=params, options=options)),)

    async def evaluate(self, check: Check, evidence: Evidence) -> CheckResult:
        """Judge every member, then the group."""
        # Readers refuse this; built in another way, a group must not pass for want of members.
        if not check.options:
            raise HarnessError(f"check {self.name} has no options: nothing would be checked by it")
        if self.group == "none":
            # A `not` within a `not` demands again.
            evidence = replace(evidence, must_not_hold=not evidence.must_not_hold)
        options = [
            [await _evaluate_member(member, evidence) for member in option]
            for option in check.options
        ]
        verdict = self.combine(
            [_all_of_verdict([result.verdict for result in option]) for option in options]
        )
        label = " | ".join(" & ".join(result.label for result in option) for option in options)
        finding = CheckFinding(
            label=clip_text(label, 100),
            verdict=verdict,
            expected={self.name: [[result.label for result in option] for option in options]},
            actual=[
                [{"check": result.label, "verdict": result.verdict} for result in option]
                for option in options
            ],
            facts={} if self.group == "none" else self._merge_facts(verdict, options),
        )
        result = build_check_result(
            check, finding if verdict == "passed" else self._explain_members(finding, options)
        )
        # What a passed member asks for, the group does: a caller may be refused, say.
        asks = self.group != "none" and any(
            member.verdict == "passed" and "no_success" in member.traits
            for option in options
            for member in option
        )
        return replace(result, traits=("no_success",)) if asks else result

    @staticmethod
    def _merge_facts(
        verdict: Verdict, options: Sequence[Sequence[CheckResult]]
    ) -> Mapping[str, bool]:
        """Return the facts of the members; an alternative that holds excuses a crossed line."""
        found = combine_facts(result for option in options for result in option)
        known = {name: value for name, value in found.items() if value is not None}
        if "line_crossed" in known:
            known["line_crossed"] &= verdict == "failed"
        return known

    def _explain_members(
        self, finding: CheckFinding, options: Sequence[Sequence[CheckResult]]
    ) -> CheckFinding:
        results = [result for option in options for result in option]
        first = self.failed if finding.verdict == "failed" else "The group cannot be judged:"
        if self.group == "none":
            lines = [
                first,
                *(f"  {result.label} ({_format_verdict(result)})" for result in results),
            ]
            return replace(
                finding,
                explanation=lines,
                hint="Narrow what must not hold, or see in the calls why it did.",
            )
        told = [result for result in results if result.verdict != "passed"]
        # All members that are told share the room of one explanation.
        room = _ROOM // min(len(told), _MAX_MEMBERS_TOLD) - _LABEL
        lines = [
            f"— {result.label} ({_format_verdict(result)}): {clip_text(result.explanation, room)}"
            for result in told[:_MAX_MEMBERS_TOLD]
        ]
        more = (
            [f"… and {len(told) - _MAX_MEMBERS_TOLD} more"] if len(told) > _MAX_MEMBERS_TOLD else []
        )
        hint = next((result.hint for result in told if result.hint), None)
        return replace(finding, explanation=[first, *lines, *more], hint=hint)


ANY_OF = _GroupKind(
    name="any_of",
    group="any",
    read=_read_list,
    combine=_any_of_verdict,
    failed="None of the alternatives holds:",
    doc=CheckDoc(
        section="Groups",
        asks="at least one of these mappings of assertions holds as a whole",
        fails=("None of the alternatives holds:",),
        example=(
            "any_of:\n"
            "  - must_call: [search_orders]\n"
            '    answer_contains: ["3 orders"]\n'
            "  - refuses: true\n"
            "  - not: {must_call: [run_query]}"
        ),
    ),
)
ALL_OF = _GroupKind(
    name="all_of",
    group="all",
    read=_read_list,
    combine=_all_of_verdict,
    failed="Not all parts of the group hold:",
    doc=CheckDoc(
        section="Groups",
        asks="all of these mappings of assertions hold",
        fails=("Not all parts of the group hold:",),
        example='all_of: [{must_call: [get_order]}, {answer_contains: ["shipped"]}]',
    ),
)
NOT = _GroupKind(
    name="not",
    group="none",
    read=_read_mapping,
    combine=_not_verdict,
    failed="This holds although it must not:",
    doc=CheckDoc(
        section="Groups",
        asks="the mapping does not hold as a whole",
        fails=("This holds although it must not:",),
        example='not: {of: {answer_contains: ["guess"]}, severity: warn}',
    ),
)
