"""Groups of assertions: ``any_of``, ``all_of`` and ``not``.

A group takes mappings written like ``assertions:`` itself, and groups nest. A member that cannot be
judged stays unknown unless the others decide: one passed member is enough for ``any_of``, whatever
a judge would say.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from harness.base import HarnessError, InvalidValue, JudgeError, did_you_mean
from harness.judging.checks import VOCABULARY, evaluate_check
from harness.judging.checks.kind import (
    NOTHING_WRONG,
    CheckDoc,
    CheckFinding,
    CheckKind,
    Evidence,
    Explanation,
    Grouping,
    build_check_result,
    combine_facts,
)
from harness.judging.checks.parsing import describe_type, either_form, read_mapping
from harness.judging.checks.registry import KINDS, tool_names
from harness.judging.matching.json_values import to_plain_json
from harness.judging.matching.texts import clip_text
from harness.types import Check, CheckResult, JsonObject, JsonPath, Verdict, dataclass

_MAX_MEMBERS_TOLD = 5
_ROOM, _LABEL = 1_400, 150  # characters for all members that are told, and of the head of each


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
    inside = (*path, name)
    try:
        parsed = VOCABULARY.parse(name, value)
    except InvalidValue as error:
        raise InvalidValue(error.message, path=(*inside, *error.path), meant=error.meant) from error
    for place, check in parsed:
        if "severity" in check.params:
            raise InvalidValue(
                "a severity belongs to the whole group, not to a part of it",
                path=(*inside, *place),
                meant="Write {of: …, severity: warn} for the group.",
            )
    return [check for _, check in parsed]


def _read_options(value: Any, path: JsonPath) -> tuple[tuple[Check, ...], ...]:
    """Return the checks of each mapping of a list."""
    if not isinstance(value, list | tuple) or not value:
        wrong = f"this is {describe_type(value)} where a list of assertions belongs"
        raise InvalidValue(
            "this list is empty" if isinstance(value, list | tuple) else wrong,
            path=path,
            meant="Write - must_call: [get_orders], one item for each.",
        )
    return tuple(_read_members(item, (*path, index)) for index, item in enumerate(value))


# ── Judging ──────────────────────────────────────────────────────────────────────────────────


_DECISIVE: Mapping[Grouping, Sequence[Verdict]] = {
    "all": ("failed", "not_judged", "passed"),
    "any": ("passed", "not_judged", "failed"),
}
"""The verdicts, of which the first that any part of a group has is the group's."""
_OPPOSITES: Mapping[Verdict, Verdict] = {
    "passed": "failed",
    "failed": "passed",
    "not_judged": "not_judged",
}


def _combine_verdicts(group: Grouping, verdicts: Collection[Verdict]) -> Verdict:
    return next(verdict for verdict in _DECISIVE[group] if verdict in verdicts)


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


def strip_server_prefixes(check: Check, evidence: Evidence) -> Evidence:
    """Return ``evidence`` in which each tool that ``check`` names has that name on every server.

    A check that names ``wipe`` finds the calls of ``shop__wipe`` and ``mail__wipe`` under that
    name, too. Names that the check itself has in full stay as they are.
    """
    names = {named.tool for named in tool_names(check)}
    own = {
        f"{prefix}{name}": name
        for prefix in evidence.tools.prefixes
        for name in names
        # What the check names in full is one server's tool alone.
        if f"{prefix}{name}" not in names
    }
    if not own:
        return evidence
    calls = tuple(
        replace(made, tool=own.get(made.tool, made.tool)) for made in evidence.transcript.tool_calls
    )
    tools = tuple(
        replace(tool, name=own.get(tool.name, tool.name)) for tool in evidence.tools.tools
    )
    presented = evidence.presented
    if presented is not None:
        renamed = {own.get(name, name): tool for name, tool in presented.tools.items()}
        presented = replace(presented, tools=renamed)
    return replace(
        evidence,
        transcript=replace(evidence.transcript, tool_calls=calls),
        tools=replace(evidence.tools, tools=tools),
        presented=presented,
    )


def _member_schema(name: str) -> JsonObject:
    """Return the schema of a member: of a nested group, only that it is a list or a mapping."""
    group = KINDS.get(name).group
    if group is None:
        return VOCABULARY.schema(name)
    # Groups nest without end, and so would a schema that is written out.
    return {"type": "object" if group == "none" else ["array", "object"]}


def _format_result(result: CheckResult) -> str:
    return f"{result.label} ({result.verdict.replace('_', ' ')})"


@dataclass(frozen=True, kw_only=True)
class _GroupKind(CheckKind):
    """A kind of check that combines others."""

    # As in `FunctionKind`: declared again, to be fields of the dataclass.
    name: str
    """Its name in suites."""
    failed: str
    """The first words of a failure."""
    doc: CheckDoc | None
    """Its row in the documentation."""
    group: Grouping
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
        listed = {"type": "array", "items": members, "minItems": 1}
        return either_form("of", members if self.group == "none" else listed)

    def parse(self, value: Any) -> Sequence[tuple[JsonPath, Check]]:
        """Return the one check that ``value`` asks for, with the checks inside it.

        Raises:
            InvalidValue: with the path to the invalid part.
        """
        # Called for what it refuses: values that are not JSON.
        to_plain_json(value)
        params: dict[str, Any] = {"of": value}
        path: JsonPath = ()
        # Anything but ``{of: …, severity: …}`` is the content itself.
        if isinstance(value, Mapping) and "of" in value:
            params, path = read_mapping(value, (), required=("of",)), ("of",)
        inner = params.pop("of")
        single = self.group == "none"
        options = (_read_members(inner, path),) if single else _read_options(inner, path)
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
        verdicts = [_combine_verdicts("all", {part.verdict for part in parts}) for parts in options]
        # The only mapping of a `not` must not hold.
        if self.group == "none":
            verdict = _OPPOSITES[verdicts[0]]
        else:
            verdict = _combine_verdicts(self.group, verdicts)
        label = " | ".join(" & ".join(result.label for result in option) for option in options)
        finding = CheckFinding(
            label=clip_text(label, 100),
            verdict=verdict,
            why=NOTHING_WRONG if verdict == "passed" else self._explain(verdict, options),
            expected={self.name: [[result.label for result in option] for option in options]},
            actual=[
                [{"check": result.label, "verdict": result.verdict} for result in option]
                for option in options
            ],
            facts={} if self.group == "none" else self._merge_facts(verdict, options),
        )
        result = build_check_result(check, finding)
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

    def _explain(self, verdict: Verdict, options: Sequence[Sequence[CheckResult]]) -> Explanation:
        results = [result for option in options for result in option]
        lines = [self.failed if verdict == "failed" else "The group cannot be judged:"]
        if self.group == "none":
            hint = "Narrow what must not hold, or see in the calls why it did."
            return [*lines, *(f"  {_format_result(result)}" for result in results)], hint
        told = [result for result in results if result.verdict != "passed"]
        # All members that are told share the room of one explanation.
        room = _ROOM // min(len(told), _MAX_MEMBERS_TOLD) - _LABEL
        lines += [
            f"— {_format_result(result)}: {clip_text(result.explanation, room)}"
            for result in told[:_MAX_MEMBERS_TOLD]
        ]
        if len(told) > _MAX_MEMBERS_TOLD:
            lines.append(f"… and {len(told) - _MAX_MEMBERS_TOLD} more")
        return lines, next((result.hint for result in told if result.hint), None)


ANY_OF = _GroupKind(
    name="any_of",
    group="any",
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
    failed="This holds although it must not:",
    doc=CheckDoc(
        section="Groups",
        asks="the mapping does not hold as a whole",
        fails=("This holds although it must not:",),
        example='not: {of: {answer_contains: ["guess"]}, severity: warn}',
    ),
)
