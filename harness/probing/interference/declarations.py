"""An altered value as the suite declares it and the probe's log records it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.judging import fold_text, read_masks
from harness.probing.callers import ProbeCaller
from harness.probing.expectations import Expectations
from harness.probing.planned_calls import ProbeCall
from harness.types import Alteration, Check, DependentTool, JsonObject

_REFUSED = frozenset({"denied", "hidden"})
_GIVEN = frozenset({"allowed", "filtered"})
# Whether a model tries a call says nothing about the field.
_OF_THE_MODEL = frozenset({"not_attempted"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterationDeclaration:
    """The declaration of one altered value, without its data."""

    name: str
    """Name of the value in messages."""
    field: str
    """Name of the field that has it."""
    at: str = ""
    """File and line of the declaration, for messages."""
    withheld_from: frozenset[str] = frozenset()
    """Identities that must not see the value although they get the field."""
    may_depend: tuple[DependentTool, ...] = ()
    """Answers that may depend on the value."""
    refused: Mapping[str, Sequence[str]]
    """Call → identities that the suite expects not to get the field from it."""
    granted: Mapping[str, Sequence[str]]
    """Call → identities that the suite expects to get the field from it. Then it does not matter
    that another call is refused to them as a whole."""


def declare_alteration(
    alteration: Alteration,
    callers: Iterable[ProbeCaller],
    calls: Iterable[ProbeCall],
    expected: Expectations,
) -> JsonObject:
    """Return ``alteration`` as JSON for the log."""
    callers, calls = tuple(callers), tuple(calls)

    def list_callers_where(says: Callable[[Check, str], bool]) -> dict[str, list[str]]:
        found = {
            call.label: [
                caller.name
                for caller in callers
                if any(
                    says(check, alteration.field)
                    for check in expected.find_checks(
                        caller.user_context, call.tool, call.arguments
                    )
                )
            ]
            for call in calls
        }
        return {call: names for call, names in found.items() if names}

    return {
        "name": alteration.name,
        "field": alteration.field,
        "at": str(alteration.at or ""),
        "withheld_from": list(alteration.withheld_from),
        "may_depend": [
            {"tool": one.tool, "fields": list(one.fields)} for one in alteration.may_depend
        ],
        "refused": list_callers_where(_expects_withheld),
        "granted": list_callers_where(_expects_field),
    }


def iterate_declarations(settings: Mapping[str, Any]) -> Iterator[AlterationDeclaration]:
    """Yield the altered values that the settings of a probe's log declare."""
    for one in settings.get("alterations", ()):
        yield AlterationDeclaration(
            name=one["name"],
            field=one["field"],
            at=one["at"],
            withheld_from=frozenset(one["withheld_from"]),
            may_depend=tuple(
                DependentTool(tool=each["tool"], fields=tuple(each["fields"]))
                for each in one["may_depend"]
            ),
            refused=one["refused"],
            granted=one["granted"],
        )


def _expects_withheld(check: Check, name: str) -> bool:
    """Whether ``check`` expects the field ``name`` to be withheld."""
    words = set(check.params.get("is", ())) - _OF_THE_MODEL
    if words and words <= _REFUSED:
        return True
    return fold_text(name) in {fold_text(each) for each in read_masks(check.params)}


def _expects_field(check: Check, name: str) -> bool:
    """Whether a suite expects that the field ``name`` is given: all, or all but others."""
    words = set(check.params.get("is", ())) - _OF_THE_MODEL
    left_out = {fold_text(each) for each in read_masks(check.params)}
    if not words or not words <= _GIVEN or fold_text(name) in left_out:
        return False
    # "filtered" without names may leave out this very field.
    return bool(left_out) or words == {"allowed"}
