"""Judge consent gates by the calls behind them: what was asked, and what was done.

Whether a call was carried out shows in the state that the suite names for this gate: any change
counts. Other reads count only where they changed when the call was accepted, and then in the same
way: a journal of attempts changes, too, whatever is answered. Without either, an answer tells that
equals the one to the accepted call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from harness.base import canonical_json, find_secret_fields, make_one_line, shorten_text
from harness.models import extract_terms
from harness.probing.caller_views import ProbedTrials, get_caller_name, get_facts, group_by
from harness.probing.consent.gate_answers import WORDS, GateAnswer, may_change
from harness.reports import ProbeFinding, Problem
from harness.types import Elicitation, StateReading, ToolCall, TrialResult

_SHORTEST = 3
"""Fewer characters of a record's value are in many questions by chance."""
_QUOTED = 120
_LATE = "while no call was under way"


@dataclass(frozen=True)
class GateTrial:
    """One call behind a gate."""

    run: TrialResult
    made: ToolCall
    asked: Sequence[Elicitation]
    states: Mapping[str, Mapping[str, StateReading]]
    """``before``, ``asked`` or ``after`` → source → its state."""

    @property
    def answer(self) -> GateAnswer:
        """How the user answered."""
        answer: GateAnswer = get_facts(self.run)["gate"]["answer"]
        return answer

    @property
    def may(self) -> bool:
        """Whether nothing says that the identity may not approve it."""
        return bool(get_facts(self.run)["gate"]["may"])

    def find_changes(self, when: str = "after") -> dict[str, bool]:
        """Return each source that could be read before → whether it is another since."""
        now = self.states.get(when, {})
        return {
            key: (one.digest, one.error) != (now[key].digest, now[key].error)
            for key, one in self.states.get("before", {}).items()
            if one.digest is not None and key in now
        }


class ConsentGate:
    """The calls of one tool that asks its user."""

    def __init__(self, tool: str, trials: Sequence[GateTrial]) -> None:
        """``trials`` are the calls, with every answer."""
        self.tool = tool
        self.trials = trials

    @cached_property
    def reference(self) -> GateTrial | None:
        """The accepted call that shows what is done."""
        accepted = [one for one in self.trials if one.answer == "accept" and one.asked]
        worked = [one for one in accepted if one.made.outcome == "ok"]
        # Whoever may approve it comes first: the others should change nothing.
        worked.sort(key=lambda one: (not any(one.find_changes().values()), not one.may))
        return worked[0] if worked else None

    @cached_property
    def telling(self) -> Sequence[str]:
        """The reads that show whether the call was carried out."""
        then = {} if self.reference is None else self.reference.find_changes()
        changed = [key for key, has in then.items() if has]
        refused = [one.find_changes() for one in self.trials if one.made.outcome != "ok"]
        # What changes by a refused call, too, is a journal of attempts.
        quiet = [key for key in changed if not any(one.get(key) for one in refused)]
        return quiet or changed

    def is_done(self, trial: GateTrial, when: str = "after") -> bool:
        """Whether the call was carried out, as far as anything shows."""
        changes = trial.find_changes(when)
        kept = [has for key, has in changes.items() if _is_kept(key)]
        if kept or self.reference is None:
            return any(kept)
        told = [key for key in self.telling if key in changes]
        if trial.answer == "again":  # another record: the state is not the same
            return trial.made.outcome == "ok" and all(changes[key] for key in told)
        if told:
            mine, theirs = trial.states[when], self.reference.states["after"]
            return all(changes[key] and _mask(mine[key]) == _mask(theirs[key]) for key in told)
        is_same = _mask_text(trial.made.text) == _mask_text(self.reference.made.text)
        return when == "after" and trial.made.outcome == "ok" and is_same

    @property
    def is_early(self) -> bool:
        """Whether the change is there while the question waits for its answer."""
        return any(self.is_done(one, "asked") for one in self.trials if "asked" in one.states)

    def iterate_faults(self) -> Iterator[tuple[GateTrial, Problem, str]]:
        """Yield the faults, each with the call that shows it."""
        for trial in self.trials:
            if (what := self._find_deed(trial)) is not None:
                yield trial, "consent_gate", what
            for asked in trial.asked:
                if asked.flaw is not None:
                    yield trial, "consent_gate", f"broken question: {asked.flaw}"
                for name in find_secret_fields(asked.schema, asked.message):
                    yield trial, "secret_asked", f"the form asks for a secret: {name!r}"
            if trial.answer != "again" and (missing := self._find_missing_words(trial)) is not None:
                yield (
                    trial,
                    "consent_gate",
                    f"the question does not say what will happen: {missing}",
                )

    def _find_deed(self, trial: GateTrial) -> str | None:
        """Return what was done that nobody agreed to."""
        done, answer = self.is_done(trial), trial.answer
        asked = any(_LATE not in (one.flaw or "") for one in trial.asked)
        what: str | None = None
        if asked and not may_change(answer) and self.is_early:
            what = "the user is asked only after the change" if "asked" in trial.states else None
        elif not done or (asked and get_facts(trial.run).get("impossible")):
            what = None
        elif answer == "unable":
            what = "it is carried out for a client that cannot be asked"
        elif not asked:
            record = " for a second record in the same session" if answer == "again" else ""
            what = f"it is carried out without a question{record}"
        elif not may_change(answer):
            what = f"it is carried out although it was {WORDS[answer]}"
        elif not trial.may:
            what = "it is carried out for an identity that may not approve it"
        return what

    def _find_missing_words(self, trial: GateTrial) -> str | None:
        """Return what the questions should name and do not; ``None`` if they name it."""
        asked = [one for one in trial.asked if one.flaw is None]
        if not asked:
            return None
        said = " ".join(_read_question(one) for one in asked)
        quoted = repr(shorten_text(make_one_line(asked[0].message), _QUOTED))
        names: Sequence[str] = get_facts(trial.run)["gate"]["names"]
        if names:
            left_out = next((name for name in names if name.casefold() not in said), None)
            return None if left_out is None else f"{quoted} does not name {left_out!r}"
        values = [
            str(value)
            for value in trial.made.arguments.values()
            if isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""
        ]
        if not values:
            terms = set(extract_terms(trial.made.tool)) & set(extract_terms(said))
            return None if terms else f"{quoted} has no word of {trial.made.tool}"
        before = [one.value for one in trial.states.get("before", {}).values()]
        known = [*values, *_iterate_record_texts(before, set(values))]
        is_named = any(value.casefold() in said for value in known)
        return None if is_named else f"{quoted} does not name {' or '.join(map(repr, values))}"


def read_gates(probed: ProbedTrials) -> list[ConsentGate]:
    """Return the tools of a probe that asked, each with its calls."""
    trials: list[GateTrial] = []
    for run in probed.apart["gate"]:
        transcript = probed.log.read_transcript(run.key)
        if transcript is None or not transcript.tool_calls or run.error is not None:
            continue
        states: dict[str, dict[str, StateReading]] = {}
        for one in transcript.states:
            source = {name: part for name, part in one.source.items() if name != "when"}
            states.setdefault(one.source["when"], {})[canonical_json(source)] = one
        trials.append(GateTrial(run, transcript.tool_calls[0], transcript.elicitations, states))
    by_tool = group_by(lambda one: one.made.tool, trials)
    return [
        ConsentGate(tool, own) for tool, own in by_tool.items() if any(trial.asked for trial in own)
    ]


def find_gate_faults(probed: ProbedTrials) -> Iterator[ProbeFinding]:
    """Yield each fault of each gate, once for all identities and answers that show it."""
    gates = read_gates(probed)
    for gate in gates:
        found: dict[tuple[Problem, str], list[GateTrial]] = {}
        for trial, problem, what in gate.iterate_faults():
            found.setdefault((problem, what), []).append(trial)
        for (problem, what), shown in found.items():
            first, callers = shown[0].run, dict.fromkeys(get_caller_name(one.run) for one in shown)
            call = get_facts(first)["gate"]["call"]
            yield ProbeFinding(
                problem=problem,
                words=make_one_line(f"{call} as {', '.join(callers)}: {what}"),
                callers=tuple(callers),
                call=first.case.name,
            )
    asking = {gate.tool for gate in gates}
    looked = {get_facts(run)["tool"]: run for run in reversed(probed.apart["gate"])}
    for tool in probed.settings.get("gates", ()):
        if tool in looked and tool not in asking and looked[tool].error is None:
            run = looked[tool]
            words = f"{get_facts(run)['gate']['call']} asks nobody, and the suite says that it asks"
            yield ProbeFinding(
                problem="consent_gate",
                words=make_one_line(words),
                callers=(get_caller_name(run),),
                call=run.case.name,
            )


def list_tried_gates(probed: ProbedTrials) -> dict[str, list[str]]:
    """Return each gate that was tried → how it was answered."""
    return {
        gate.tool: list(
            dict.fromkeys(
                WORDS[one.answer] for one in gate.trials if not get_facts(one.run).get("impossible")
            )
        )
        for gate in read_gates(probed)
    }


def list_untried_gates(probed: ProbedTrials) -> Iterator[str]:
    """Yield what was not tried of the gates that the suites name, and of those that were found."""
    looked = {get_facts(run)["tool"] for run in probed.apart["gate"]}
    for tool in probed.settings.get("gates", ()):
        if tool not in looked:
            yield f"the consent gate of {tool}: it was not called"
    for gate in read_gates(probed):
        reference = gate.reference
        if reference is None or not gate.is_done(reference):
            yield f"{gate.tool}: no accepted call was carried out, so nothing shows what it changes"
        elif not any(reference.find_changes().values()):
            words = "no state that was read shows what it changes: its answers were compared"
            yield f"{gate.tool}: {words}"
        has_record = reference is not None and any(
            re.search(r"\d", str(value)) for value in reference.made.arguments.values()
        )
        if has_record and all(one.answer != "again" for one in gate.trials):
            yield f"{gate.tool}: a second record in the same session: none is known"


def _is_kept(key: str) -> bool:
    return '"kept":true' in key.replace(" ", "")


def _mask(reading: StateReading) -> str:
    if reading.value is None:
        return reading.digest or _mask_text(reading.error or "")
    return _mask_text(canonical_json(reading.value))


def _mask_text(text: str) -> str:
    """Return a text without numbers: what is made anew has another id, and another time."""
    return re.sub(r"[0-9a-f]*\d[0-9a-f]*", "9", text.casefold())


def _read_question(asked: Elicitation) -> str:
    fields = (asked.schema or {}).get("properties", {}).values()
    parts = [asked.message, asked.url or ""]
    parts += [str(field.get(key, "")) for field in fields for key in ("title", "description")]
    return " ".join(parts).casefold()


def _iterate_record_texts(value: Any, ids: set[str]) -> Iterator[str]:
    """Yield the texts of the records in ``value`` that have one of ``ids``."""
    if isinstance(value, Mapping):
        own = [part for part in value.values() if isinstance(part, str)]
        if ids & {str(part) for part in value.values()}:
            yield from (part for part in own if len(part) >= _SHORTEST)
    if isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _iterate_record_texts(part, ids)
