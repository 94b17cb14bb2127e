"""Compute the mutation score of a policy suite.

For a mutant that survives, the expectation that the suite lacks is stated as YAML that is ready to
paste.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Protocol, TypeAlias

import yaml

from harness.base import Interval, canonical_json, wilson_interval
from harness.judging import ABSENT, check_traits, is_equal, stated_arguments
from harness.probing.mutants.operators import ServerMutant, generate_mutants
from harness.probing.mutants.recording import AnswerRecording, CallAnswer, Cell, find_withheld
from harness.suites import DECISION
from harness.types import Case, Check, Decision, JsonObject, dataclass

_ACCEPTED = ("allowed", "filtered", "denied", "hidden")
_UNTRIED = "not_attempted"
_WIDTH = 110
"""Characters of a line of YAML."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingLine:
    """An expectation on one call of one identity that the suite lacks."""

    test: str | None
    """The test to add it to; ``None`` if it needs a new test."""
    identity: str | None
    """The identity's key under ``expect:`` of the test; ``None`` if the test has a single identity,
    so that the line belongs under ``decision:`` of its ``assertions:``."""
    cell: Cell
    """Caller and call by their names in tables."""
    decision: str
    """The server's decision without the fault."""
    tool: str
    """The tool."""
    args: JsonObject
    """The arguments as ``args`` of a suite; empty for a hidden tool."""
    without: tuple[str, ...]
    """Fields that must be withheld."""
    unmasked: bool = False
    """Whether the fields must be left out completely, not even masked."""
    prompt: str | None = None
    """A prompt for a new test; ``None`` if no prompt is known that leads to the call."""

    @property
    def check(self) -> Check:
        """The line as a check."""
        params = {"tool": self.tool, "args": self.args, "is": [self.decision], **self._absent}
        return Check(kind=DECISION, params=params)

    @property
    def _absent(self) -> dict[str, Any]:
        """The key ``without``, if fields must be withheld."""
        fields = list(self.without)
        absent = {"fields": fields, "mask": "none"} if self.unmasked else fields
        return {"without": absent} if fields else {}

    @property
    def value(self) -> Any:
        """The YAML value: of the identity under ``expect:``, or in the list under ``decision:``."""
        if self.identity is not None:
            return {"decision": self.decision, **self._absent} if self.without else self.decision
        # In that test a model may not make this call; only the probe certainly does.
        accepted = self.decision if self.decision == "hidden" else [self.decision, _UNTRIED]
        args = {"args": dict(self.args)} if self.args else {}
        return {"is": accepted, "tool": self.tool} | args | self._absent


def missing_lines(
    mutant: ServerMutant, recording: AnswerRecording, decisions: Mapping[Cell, tuple[Decision, ...]]
) -> Iterator[MissingLine]:
    """Yield possible missing lines, the most relevant first: one for each different answer."""
    if mutant.hides is not None:
        answer = recording.answers[mutant.wrong]
        yield _build_line(recording, answer, "hidden", mutant.hides, {}, ())
        return
    cells = [answer.cell for answer in mutant.answers]
    for cell in dict.fromkeys((mutant.wrong, *cells)):
        answer = recording.answers[cell]
        access = next((one.access for one in decisions[cell] if one.tool == answer.tool), None)
        # A refused session has no call that was decided on.
        if answer.transcript.refused_status is not None:
            access = "denied"
        if access in _ACCEPTED:
            fields = _find_withheld_names(answer, recording) if access == "filtered" else ()
            args = _build_exact_args(answer, recording)
            line = _build_line(recording, answer, access, answer.tool, args, fields)
            yield line
            # Where nothing is masked, the line may be stricter and notice a value behind a mask.
            if fields and "masked" not in _find_withheld(answer, recording).values():
                yield replace(line, unmasked=True)


def _build_exact_args(answer: CallAnswer, recording: AnswerRecording) -> JsonObject:
    """Return the arguments of ``answer``'s call as ``args`` that match no other recorded call.

    Plain ``args`` also match calls with more arguments, which may have another decision.
    """
    own = answer.arguments
    tool = recording.tools.get(answer.tool)
    if not own and tool is not None and not tool.input_schema.get("properties"):
        return own
    others = {
        each.call: each.arguments
        for each in recording.answers.values()
        if each.tool == answer.tool and each.call != answer.call
    }
    fits_more = any(
        all(is_equal(value, given.get(name, ABSENT)) for name, value in own.items())
        for given in others.values()
    )
    return {"$equals": own} if fits_more or not own or stated_arguments(own) is None else own


def _find_withheld_names(answer: CallAnswer, recording: AnswerRecording) -> tuple[str, ...]:
    """Return the names of the fields that only other callers get for the same call.

    If the caller's result has another field of that name, the path is included.
    """
    own = answer.successful_result
    if own is None:
        return ()
    # Suites name fields without the brackets of lists.
    kept = {path.replace("[]", "") for path in _find_withheld(answer, recording) if path}
    given = {leaf.path.replace("[]", "") for leaf in own.leaves} - kept
    return tuple(dict.fromkeys(_shorten_path(path, given) for path in sorted(kept)))


def _find_withheld(answer: CallAnswer, recording: AnswerRecording) -> dict[str, str]:
    """Return the fields that only others get for the same call, and how they are withheld."""
    own = answer.successful_result
    found: dict[str, str] = {}
    for other in recording.group_by_call()[answer.call]:
        full = other.successful_result
        if own is not None and full is not None and other.caller != answer.caller:
            found |= find_withheld(own, full)
    return found


def _shorten_path(path: str, given: Iterable[str]) -> str:
    """Return the shortest suffix of ``path`` that no path in ``given`` has."""
    parts = path.split(".")
    for start in range(len(parts) - 1, 0, -1):
        name = ".".join(parts[start:])
        if not any(other == name or other.endswith(f".{name}") for other in given):
            return name
    return path


def _build_line(
    recording: AnswerRecording,
    answer: CallAnswer,
    decision: str,
    tool: str,
    args: JsonObject,
    without: tuple[str, ...],
) -> MissingLine:
    own = recording.find_cases(answer)
    test, identity = None, None
    if any(case.caller.group is not None for case in recording.cases):
        # A line for this caller can only be added to a test that they are part of.
        asking = {case.caller.group for case in own}
        stating = (case for case in recording.cases if _has_decision(case, tool, args))
        test = next((each.caller.group for each in stating if each.caller.group in asking), None)
        identity = next((case.caller.identity for case in own), None) or answer.caller
    elif own:
        test = own[0].name
    return MissingLine(
        test=test,
        identity=identity,
        cell=answer.cell,
        decision=decision,
        tool=tool,
        args=args,
        without=without,
        prompt=recording.find_prompt(answer) if tool == answer.tool else None,
    )


def _has_decision(case: Case, tool: str, args: JsonObject) -> bool:
    """Whether a test with several identities has a decision on exactly this call."""
    stated = canonical_json(stated_arguments(args))
    return case.caller.group is not None and any(
        check.params.get("tool") == tool
        and canonical_json(stated_arguments(check.params.get("args", {}))) == stated
        for check in case.every_check
        if "decides_access" in check_traits(check)
    )


# ── As YAML ──────────────────────────────────────────────────────────────────────────────────


def format_yaml(lines: Iterable[MissingLine]) -> str:
    """Return the YAML of the tests that ``lines`` belong to, with only these lines.

    The prompts of new tests are left to be written.
    """
    tests: dict[str, dict[str, Any]] = {}
    new: Counter[str] = Counter()
    for line in lines:
        call = {"tool": line.tool, **({"args": dict(line.args)} if line.args else {})}
        key = canonical_json([line.test, None if line.test else [call, line.identity is None]])
        if key not in tests and line.test is None:
            new[line.tool] += 1
            tests[key] = _new_test(line, call, new[line.tool])
        test = tests.setdefault(key, {"name": line.test})
        if line.identity is not None:
            if line.test is None and line.identity not in test["as"]:
                test["as"].append(line.identity)
            expected = test.setdefault("expect", {})
            # The stricter line replaces the plain one of the same identity.
            if line.unmasked or line.identity not in expected:
                expected[line.identity] = line.value
            continue
        decisions = test.setdefault("assertions", {}).setdefault("decision", [])
        if line.value not in decisions:
            decisions.append(line.value)
    dumped = yaml.dump(
        list(tests.values()),
        Dumper=_CompactDumper,
        sort_keys=False,
        allow_unicode=True,
        width=_WIDTH,
        default_flow_style=None,
    )
    # An empty list would come out as a pair of brackets.
    return str(dumped) if tests else ""


def _new_test(line: MissingLine, call: JsonObject, number: int) -> dict[str, Any]:
    prompt = line.prompt or f"TODO: ask for what {line.tool} returns."
    name = line.tool if number == 1 else f"{line.tool}_{number}"
    test: dict[str, Any] = {"name": name, "prompt": prompt}
    return test if line.identity is None else {**test, "as": [], "tool": call}


class _CompactDumper(yaml.SafeDumper):
    """Writes the mapping of one identity or one call on one line."""

    def represent_mapping(self, tag: str, mapping: Any, flow_style: Any = None) -> Any:
        in_line = "name" not in mapping and mapping.keys() & {"is", "tool", "decision"}
        one_line = bool(in_line) and not isinstance(mapping.get("decision"), list)
        return super().represent_mapping(tag, mapping, one_line or flow_style)


KilledBy: TypeAlias = Literal["suite", "search", "kept"]
"""``suite``: an expectation of the suite. ``search``: a finding that needs no expectation.
``kept``: a kept decision."""
MOST = 600
"""Maximum number of judged mutants; if there are more, a reproducible sample is judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredMutant:
    """One judged mutant."""

    operator: str
    """The kind of fault."""
    words: str
    """The fault on one line."""
    killed_by: KilledBy | None
    """What noticed it; ``None`` if it survived."""
    missing: MissingLine | None = None
    """The expectation that would notice a survivor; ``None`` if no expectation can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MutationScore:
    """The result for all mutants."""

    planted: tuple[ScoredMutant, ...]
    """All judged mutants."""
    left_out: int
    """Number of mutants beyond `MOST`, which were not judged."""

    @property
    def survivors(self) -> tuple[ScoredMutant, ...]:
        """The mutants that nothing noticed."""
        return tuple(each for each in self.planted if each.killed_by is None)

    def count_killed(self, by: KilledBy | None = None) -> int:
        """Return the number of noticed mutants: by anything, or by ``by``."""
        killed = [each.killed_by for each in self.planted if each.killed_by is not None]
        return len(killed) if by is None else killed.count(by)

    @property
    def share(self) -> float | None:
        """Killed ÷ applicable; ``None`` if nothing could be planted."""
        return self.count_killed() / len(self.planted) if self.planted else None

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval of `share`, by Wilson."""
        return wilson_interval(self.count_killed(), len(self.planted))

    @property
    def counts_by_operator(self) -> Mapping[str, tuple[int, int]]:
        """Operator → the number of its killed mutants, and of all its mutants."""
        all_of = Counter(each.operator for each in self.planted)
        killed = Counter(each.operator for each in self.planted if each.killed_by is not None)
        return {operator: (killed[operator], count) for operator, count in all_of.items()}


class MutantJudge(Protocol):
    """Decides what notices a mutant of recorded answers."""

    decisions: Mapping[Cell, tuple[Decision, ...]]
    """The server's decisions in the recorded answers."""

    async def judge_recorded(self) -> None:
        """Judge the recorded answers."""
        ...

    async def find_killer(self, mutant: ServerMutant) -> KilledBy | None:
        """Return what notices ``mutant``; ``None`` if nothing does."""
        ...

    async def would_notice(self, check: Check, cell: Cell, mutant: ServerMutant) -> bool:
        """Whether the suite would notice ``mutant`` if it also had ``check`` on ``cell``."""
        ...


async def mutation_score(recording: AnswerRecording, judge: MutantJudge) -> MutationScore:
    """Plant faults into recorded answers, and let ``judge`` decide which are noticed."""
    await judge.judge_recorded()
    every = list(generate_mutants(recording))
    chosen = _sample_mutants(every)
    planted = [await _judge_mutant(mutant, recording, judge) for mutant in chosen]
    return MutationScore(planted=tuple(planted), left_out=len(every) - len(chosen))


def _sample_mutants(every: Sequence[ServerMutant]) -> Sequence[ServerMutant]:
    if len(every) <= MOST:
        return every
    places = random.Random(0).sample(range(len(every)), MOST)  # noqa: S311 - repeatable, not secret
    # In their own order again, so that a sample reads like the whole.
    return [every[place] for place in sorted(places)]


async def _judge_mutant(
    mutant: ServerMutant, recording: AnswerRecording, judge: MutantJudge
) -> ScoredMutant:
    killed_by = await judge.find_killer(mutant)
    missing = None
    if killed_by is None:
        # The most relevant lines come first, and one is enough.
        for line in missing_lines(mutant, recording, judge.decisions):
            if await judge.would_notice(line.check, line.cell, mutant):
                missing = line
                break
    of, words = mutant.operator, mutant.words
    return ScoredMutant(operator=of, words=words, killed_by=killed_by, missing=missing)
