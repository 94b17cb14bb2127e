"""Find in all answers what a suite says that an identity does not get.

A value of a record that an identity *never* gets is looked for in all that it is told, and so is
each value of a field that no answer may contain. A value counts if it is that record's alone, or
that field's alone, among all answers. What the suite merely says to be refused, in one call, may be
public elsewhere: then it is a note, and fails nothing. A field that a leak
already tells of the same identity and tool is not told again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from harness.judging import Result, fold_text, is_masked, shorten_scalar
from harness.probing.caller_views import (
    ProbedTrials,
    build_finding,
    get_bases,
    get_caller_name,
    get_facts,
    get_label,
    group_by,
)
from harness.probing.forged_calls import collect_withheld, get_last_name
from harness.probing.planned_calls import ProbeCall
from harness.probing.roads.road_calls import collect_kept
from harness.probing.roads.road_choice import UNHEARD, build_unheard_id
from harness.probing.roads.statements import KeptValue, Statement
from harness.reports import ProbeFinding
from harness.types import JsonObject, Leak, TrialResult

_HEARD = ("record", "road", "write")
"""Facts of the calls, besides the regular ones, whose answers are searched."""
_MOST_SHOWN = 4
_LEAST_NOTED = 2
"""Values of a record that a note needs: one alone may be public."""


class RoadFindings:
    """What the answers of a probe give by another road."""

    def __init__(self, probed: ProbedTrials, leaks: Iterable[Leak] = ()) -> None:
        """Read the answers of ``probed``, whose regular calls have ``leaks``."""
        self._probed = probed
        self._leaking = {
            (leak.identity, result.call.tool, fold_text(get_last_name(leak.field)))
            for leak in leaks
            if not leak.is_note and leak.key in probed.views
            for result in probed.views[leak.key].results
        }
        self._kept = collect_kept(probed, "record", "road")

    @cached_property
    def _answers(self) -> dict[str, list[tuple[TrialResult, Result]]]:
        runs = [*self._probed.own, *(one for fact in _HEARD for one in self._probed.apart[fact])]
        runs += [one for one in self._probed.apart["forged"] if _is_own_forgery(one)]
        pairs = [(run, self._probed.get_result(run)) for run in runs if not get_bases(run)]
        answered = [(run, result) for run, result in pairs if result is not None]
        return group_by(lambda pair: get_caller_name(pair[0]), answered)

    def iterate_findings(self) -> Iterator[ProbeFinding]:
        """Yield what an identity gets although a suite says that it must not."""
        for name in self._kept.statements:
            yield from self._find_values(name)
            yield from self._find_named_fields(name)
            yield from self._find_searches(name)
            yield from self._find_answered(name)
        yield from self._find_gains()
        yield from self._find_touched()

    def iterate_notes(self) -> Iterator[str]:
        """Yield what an identity gets of a record that one call refuses, and the suite with it."""
        for name in self._kept.statements:
            records = group_by(
                lambda one: one.statement.key,
                (one for one in self._kept.list_values(name) if not _is_certain(one)),
            )
            open_tools = {one.tool for one in self._kept.statements[name] if one.is_open}
            for values in records.values():
                for run, result in self._answers.get(name, ()):
                    found = _find_values(values, result)
                    if len(found) >= _LEAST_NOTED and result.call.tool not in open_tools:
                        what = _list_fields(found)
                        asked = _describe(found[0].statement)
                        yield (
                            f"{_get_call(run)} gives {name} {what} of what {asked} refuses them; "
                            f"if they must not get it at all, write 'never' in its 'expect'"
                        )
                        break

    def _find_values(self, name: str) -> Iterator[ProbeFinding]:
        values = [one for one in self._kept.list_values(name) if _is_certain(one)]
        groups = group_by(
            lambda one: (one.statement.key, one.field in one.statement.fields), values
        )
        for group in groups.values():
            seen: set[str] = set()
            for run, result in self._answers.get(name, ()):
                found = [] if result.call.tool in seen else _find_values(group, result)
                # That a whole record must not be got says more than that a field leaks.
                found = [
                    one
                    for one in found
                    if not one.statement.fields or not self._is_leaking(name, result, one.field)
                ]
                if found:
                    seen.add(result.call.tool)
                    yield self._build_finding(name, run, found)

    def _build_finding(
        self, name: str, run: TrialResult, found: Sequence[KeptValue]
    ) -> ProbeFinding:
        statement = found[0].statement
        what = _list_fields(found)
        shown = shorten_scalar(found[0].value)
        kept = "never get" if statement.never else "must not get"
        of = f" ({shown})" if statement.fields else f" of what {_describe(statement)} refuses them"
        words = f"{_get_call(run)} gives {name} {what}{of}, which the suite says they {kept}"
        return build_finding("other_road", words, name, _get_call(run))

    def _find_named_fields(self, name: str) -> Iterator[ProbeFinding]:
        """Yield fields that an identity never gets, whatever their value."""
        never = {
            fold_text(field): field
            for one in self._kept.statements[name]
            if one.never
            for field in one.fields
        }
        seen: set[tuple[str, str]] = set()
        for run, result in self._answers.get(name, ()) if never else ():
            for leaf in result.leaves if result.call.outcome == "ok" else ():
                field = never.get(fold_text(leaf.name))
                known = field is None or (result.call.tool, field) in seen
                known = known or self._is_leaking(name, result, leaf.name)
                if known or leaf.value in (None, "") or is_masked(leaf.value):
                    continue
                if self._is_own(name, leaf.record.fields):
                    continue
                seen.add((result.call.tool, str(field)))
                words = (
                    f"{_get_call(run)} gives {name} {field}, which the suite says they never get"
                )
                yield build_finding("other_road", words, name, _get_call(run))

    def _find_answered(self, name: str) -> Iterator[ProbeFinding]:
        """Yield calls on a record that the identity never gets which work, as on no other id."""
        runs = [pair for pair in self._answers.get(name, ()) if "road" in get_facts(pair[0])]
        by_call = {_build_key(result): result for _, result in runs}
        for statement in self._kept.list_refused(name):
            for value in (statement.arguments or {}).values() if statement.never else ():
                works = (
                    (run, result)
                    for run, result in runs
                    if result.call.outcome == "ok" and _list_plain(result, value)
                )
                for run, result in works:
                    unheard = build_unheard_id(str(value))
                    other = by_call.get(_build_key(result, str(value), unheard))
                    said = _read_text(result).replace(fold_text(str(value)), "")
                    if other is None or said == _read_text(other).replace(fold_text(unheard), ""):
                        continue
                    if other.call.outcome in ("denied", "tool_error"):
                        words = (
                            f"{_get_call(run)} works for {name}: {_describe(statement)} is refused "
                            "to them, and the suite says that they never get that record"
                        )
                        yield build_finding("other_road", words, name, _get_call(run))
                        break

    def _is_leaking(self, name: str, result: Result, field: str) -> bool:
        """Whether a leak tells already that this tool gives the identity this field."""
        return (name, result.call.tool, fold_text(get_last_name(field))) in self._leaking

    def _is_own(self, name: str, fields: object) -> bool:
        run = next((run for run, _ in self._answers.get(name, ())), None)
        context: JsonObject = {} if run is None else run.case.user_context or {}
        values = [one for one in context.values() if isinstance(one, str) and re.search(r"\d", one)]
        return isinstance(fields, dict) and any(one in fields.values() for one in values)

    def _find_searches(self, name: str) -> Iterator[ProbeFinding]:
        """Yield searches that find a record by a value of it that the identity does not get."""
        values = {str(one.value): one for one in self._kept.list_values(name)}
        told = [
            (run, result)
            for run, result in self._answers.get(name, ())
            if result.call.outcome == "ok" and "road" in get_facts(run)
        ]
        empty = {
            _mask_text(result, UNHEARD): result
            for _, result in told
            if UNHEARD in result.call.arguments.values()
        }
        for run, result in told:
            sent = [one for one in map(str, result.call.arguments.values()) if one in values]
            kept = values[sent[0]] if sent else None
            if kept is None or not kept.statement.fields:
                continue
            unheard = empty.get(_mask_text(result, sent[0]))
            if unheard is None or fold_text(sent[0]) in _read_text(result):
                continue
            found, nothing = _count_hits(result, kept.record), _count_hits(unheard, kept.record)
            if found and not nothing:
                words = (
                    f"{_get_call(run)} finds for {name} a record by its {kept.field}, "
                    f"which the suite says they must not get"
                )
                yield build_finding("other_road", words, name, _get_call(run))
                return

    def _find_gains(self) -> Iterator[ProbeFinding]:
        """Yield what other calls withhold and a road gives, both times that it was taken."""
        roads = [run for run in self._probed.apart["road"] if not _is_request(run)]
        twice = {
            key: runs
            for key, runs in group_by(
                lambda run: (get_caller_name(run), get_facts(run)["road"]), roads
            ).items()
            if len(runs) > 1
        }
        withheld = collect_withheld(self._probed) if twice else None
        for (name, call), runs in twice.items():
            results = [one for run in runs if (one := self._probed.get_result(run)) is not None]
            gains = [
                # That another question for a list is refused says nothing of the rows of this one.
                withheld.find_gain(
                    name, one.call, one.call.arguments, {}, same=False, past_refusals=False
                )
                for one in results
                if withheld is not None
            ]
            gain = gains[0] if gains else None
            if gain is None or None in gains:
                continue
            gained = [one for one in gain.fields if not self._is_leaking(name, results[0], one)]
            if not gained:
                continue
            fields = ", ".join(gained[:_MOST_SHOWN])
            words = f"{call} gives {name} {fields}, which their other calls withhold: "
            words += f"only {' and '.join(gain.givers)} may see that"
            yield build_finding("other_road", words, name, call)

    def _find_touched(self) -> Iterator[ProbeFinding]:
        """Yield changes of records that the identity never gets, and records opened by a change."""
        for run in self._probed.apart["write"]:
            name, facts = get_caller_name(run), get_facts(run)["write"]
            result = self._probed.get_result(run)
            if result is None or result.call.outcome != "ok" or not facts["record"]:
                continue
            if facts["opened_by"]:
                words = (
                    f"{_get_call(run)} works for {name} after {facts['opened_by']}: they opened it "
                    "for themselves, and the suite expects that it is refused"
                )
                yield build_finding("other_road", words, name, _get_call(run))
            elif facts["never"] and facts["changes_it"]:
                words = (
                    f"{_get_call(run)} works for {name}: it changes what {facts['record']} refuses "
                    "them, and the suite says that they never get it"
                )
                yield build_finding("other_road", words, name, _get_call(run))


def _get_call(run: TrialResult) -> str:
    facts = get_facts(run)
    return str(facts.get("road") or facts.get("write", {}).get("call") or get_label(run))


def _is_certain(value: KeptValue) -> bool:
    return bool(value.statement.never or value.statement.fields)


def _describe(statement: Statement) -> str:
    arguments = statement.arguments or {}
    return ProbeCall(tool=statement.tool, arguments=arguments, changes=False).label


def _list_fields(found: Sequence[KeptValue]) -> str:
    return ", ".join([*dict.fromkeys(one.field for one in found)][:_MOST_SHOWN])


def _is_own_forgery(run: TrialResult) -> bool:
    forged = get_facts(run)["forged"]
    return bool(forged["step"] == "forged" and forged["kind"] != "identity")


def _is_request(run: TrialResult) -> bool:
    return "/" in str(get_facts(run)["tool"])


def _list_plain(result: Result, value: object) -> list[object]:
    """Return the arguments that are ``value``, alone or as the only item of a list."""
    return [one for one in result.call.arguments.values() if one in (value, [value])]


def _build_key(result: Result, old: str = "", new: str = "") -> str:
    sent = json.dumps([result.call.tool, dict(result.call.arguments)], sort_keys=True)
    return sent.replace(json.dumps(old), json.dumps(new)) if old else sent


def _find_values(values: Sequence[KeptValue], result: Result) -> list[KeptValue]:
    """Return those of ``values`` that an answer contains, and the call did not send."""
    told = _read_text(result)
    if not told:
        return []
    found = [one for one in values if one.text in told and _is_whole(one.text, told)]
    sent = fold_text(json.dumps(result.call.arguments, ensure_ascii=False)) if found else ""
    return [one for one in found if one.text not in sent]


def _is_whole(text: str, told: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", told) is not None


def _read_text(result: Result) -> str:
    """Return all of an answer as one text."""
    structured = result.call.structured
    parts = [result.call.text, *(one.text for one in result.call.beside)]
    if structured is not None:
        parts.append(json.dumps(structured, ensure_ascii=False))
    return fold_text("\n".join(parts))


def _mask_text(result: Result, text: str) -> str:
    """Return a call with ``text`` in its arguments left out: what two searches share."""
    arguments = {
        name: None if value == text else value for name, value in result.call.arguments.items()
    }
    return json.dumps([result.call.tool, arguments], sort_keys=True)


def _count_hits(result: Result, record: frozenset[str]) -> int:
    return sum(str(leaf.value) in record for leaf in result.leaves)
