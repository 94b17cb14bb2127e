"""What a kind of check declares, and the building blocks of most: reader, judge and finding."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, NamedTuple, TypeAlias

from harness.base import InvalidValue
from harness.judging.checks.claims import Claim
from harness.judging.checks.judge.judge import Judge
from harness.judging.matching.calls import described_calls, find_named_tools
from harness.judging.matching.texts import clip_text
from harness.types import (
    NOT_SENT,
    Case,
    Check,
    CheckResult,
    CheckTrait,
    JsonObject,
    JsonPath,
    Presentation,
    ToolCall,
    ToolList,
    Transcript,
    Verdict,
    dataclass,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Everything that a check may use."""

    case: Case
    """What was asked."""
    transcript: Transcript
    """What happened."""
    tools: ToolList
    """The tools that this user was offered, as the server describes them."""
    presented: Presentation | None = None
    """What the model saw of them under a variant; ``None``: what the server says of them."""
    judge: Judge | None = None
    """Asked for what no assertion can decide; ``None`` if there is no judge."""
    turn_results: tuple[CheckResult, ...] = ()
    """Results of the checks of single turns, while the whole conversation is judged."""
    must_not_hold: bool = False
    """Whether the check must fail, since it stands under a ``not``: what it names is forbidden."""


MAX_EXPLANATION = 1_500
"""Characters of an explanation: they must fit on a screen beside others."""

_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")

SECTIONS = (
    "Calls",
    "Outcomes",
    "Results",
    "Answers",
    "Memory",
    "Consent",
    "Resources",
    "Economy",
    "Faults",
    "Judged",
    "Groups",
)
"""The sections of the documentation, in their order."""

Parsed = Sequence[tuple[JsonPath, JsonObject]]
"""One (path in the suite's value, params) for each check."""
WantedCall: TypeAlias = tuple[str, JsonObject]
"""A tool, and the arguments that a check requires (values or matchers)."""
CallOrder: TypeAlias = Literal["each", "one_of", "in_order", "effect"]
"""How the calls that a check wants belong together: ``each`` must be made, ``one_of`` them, all
``in_order``; of an ``effect``, other calls may come first, or lead to it as well."""
Grouping: TypeAlias = Literal["any", "all", "none"]
"""Which options of a group must hold."""


class WantedState(NamedTuple):
    """One state of the server that a check needs."""

    source: JsonObject
    """As `StateReading.source`."""
    after: tuple[JsonObject, ...] | None
    """As `StateReading.after`."""


Explanation: TypeAlias = tuple[Sequence[str], str | None]
"""Lines, of which the first says what is wrong, in words that users search for; and advice."""
NOTHING_WRONG: Explanation = ((), None)
"""The explanation of a check that passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckFinding:
    """What a judging function found; its kind makes a `CheckResult` of it."""

    label: str
    """What was checked, in a few words, without the kind's name."""
    expected: Any = None
    """What was expected (JSON)."""
    actual: Any = None
    """What was found (JSON)."""
    why: Explanation = NOTHING_WRONG
    """What is wrong, and what helps."""
    verdict: Verdict | None = None
    """The verdict; ``None``: it failed if `why` says that something is wrong."""
    score: float | None = None
    """From 0 to 1, of a check that grades."""
    facts: Mapping[str, bool] = field(default_factory=dict)
    """Of a check of a policy, `policy_facts`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckDoc:
    """The documentation of a kind of check for ``docs/checks.md`` and editors, in Markdown."""

    section: str
    """The heading of its section."""
    asks: str
    """What it requires, in a sentence or two."""
    fails: tuple[str, ...]
    """The beginnings of its failure messages."""
    example: str
    """YAML as written under ``assertions:``."""

    @property
    def plain(self) -> str:
        """What it requires, links reduced to their words."""
        return _LINK.sub(r"\1", self.asks)


class CheckKind:
    """One kind of check: how to read it and judge it, and all that the program asks about it.

    Nothing outside of a kind's own file knows its name: whoever has to treat it in some way asks
    the kind. A check of another package is therefore like one of harness. What is not overridden
    here says that there is nothing special about the kind.
    """

    name: str
    """Its name in suites."""
    schema: JsonObject
    """JSON Schema of the value that a suite gives under its name."""
    doc: CheckDoc | None = None
    """Its row in the documentation."""
    in_suites: bool = True
    """Whether files of suites may name it."""
    needs_judge: bool | None = None
    """Whether a judge is required; ``False``: there is a substitute. ``None``: it asks no judge."""
    asks_rarely: bool = False
    """Whether a judge is only asked about some answers."""
    needs_model: bool = False
    """Whether it judges what a model chose or said, so that a case without a model cannot have it.
    """
    needs_session: bool | Literal["tools"] = False
    """Whether it judges what messages and calls do not show: questions, read resources, times, or
    only the list of tools. The conversations of a file have at most the list."""
    group: Grouping | None = None
    """Which of its options must hold, if it is a group of other checks."""
    order: CallOrder = "each"
    """How its wanted calls belong together."""

    def parse(self, value: Any) -> Sequence[tuple[JsonPath, JsonObject | Check]]:
        """Return ``(path in value, normalised params)`` for each check in ``value``.

        A kind that consists of other checks returns the `Check` itself, with its options.

        Raises:
            InvalidValue: with the path to the invalid part.
        """
        raise NotImplementedError

    async def evaluate(self, check: Check, evidence: Evidence) -> CheckResult:
        """Judge ``check`` by the evidence.

        Raises:
            JudgeError: it cannot be judged.
        """
        raise NotImplementedError

    def claims(self, params: JsonObject, /) -> Iterable[Claim]:
        """Return what ``params`` claim, to find checks that contradict each other."""
        return ()

    def traits(self, params: JsonObject, /) -> Sequence[CheckTrait]:
        """Return what holds for a check with ``params``; reports find it in its result."""
        return ()

    def wanted_calls(self, params: JsonObject, /) -> Iterable[WantedCall]:
        """Return the calls that must or may be made for the check to pass."""
        return ()

    def needed_tools(self, params: JsonObject, /) -> Iterable[str]:
        """Return the tools that must be callable for the check to pass."""
        return (tool for tool, _ in self.wanted_calls(params))

    def wanted_states(self, params: JsonObject, /) -> Iterable[WantedState]:
        """Return the states of the server that are read for it after the conversation."""
        return ()

    def named_tools(self, params: JsonObject, /) -> Iterable[tuple[str, bool]]:
        """Return the tools that ``params`` name, and whether each may be absent from the server."""
        return find_named_tools(params)

    def valid_calls(self, params: JsonObject, /) -> Iterable[WantedCall]:
        """Return the calls that ``params`` describe, as far as they must be valid for the tool."""
        return described_calls(params)

    def expects_failure(self, params: JsonObject, call: ToolCall, /) -> bool:
        """Whether it judges how ``call`` fails, so that no answer is one that it can judge."""
        return False

    def stands_anyway(self, failed: CheckResult, transcript: Transcript, /) -> bool:
        """Whether it ``failed`` for a reason that no missing answer could have changed."""
        return False


class UnlistedKind(CheckKind):
    """A kind that no file of a suite may name, since its params come from elsewhere."""

    # No value fits it.
    schema: JsonObject = {"not": {}}  # noqa: RUF012 - read-only, as every JSON Schema here
    in_suites = False
    source: str
    """Who makes them."""

    def parse(self, value: Any) -> Parsed:
        """Refuse.

        Raises:
            InvalidValue: always.
        """
        raise InvalidValue(f"only {self.source} have a check of this kind")

    def named_tools(self, params: JsonObject, /) -> Iterable[tuple[str, bool]]:
        """Return nothing: whoever makes the params vouches for the tools in them."""
        return ()

    def valid_calls(self, params: JsonObject, /) -> Iterable[WantedCall]:
        """Return nothing, for the same reason."""
        return ()


@dataclass(frozen=True, kw_only=True)
class FunctionKind(CheckKind):
    """A `CheckKind` that judges by a plain function, and declares what it is by others."""

    # Declared again, to be fields of the dataclass, which those of `CheckKind` are not.
    name: str
    """Its name in suites."""
    schema: JsonObject
    """JSON Schema of its value."""
    read: Callable[[Any], Parsed]
    """Turns a suite's value into params."""
    judge: Callable[[JsonObject, Evidence], CheckFinding | Awaitable[CheckFinding]]
    """Judges."""
    doc: CheckDoc | None = None
    """Its row in the documentation."""
    needs_judge: bool | None = None
    """As `CheckKind.needs_judge`."""
    asks_rarely: bool = False
    """As `CheckKind.asks_rarely`."""
    needs_model: bool = False
    """As `CheckKind.needs_model`."""
    needs_session: bool | Literal["tools"] = False
    """As `CheckKind.needs_session`."""
    order: CallOrder = "each"
    """As `CheckKind.order`."""
    # From here on, each field takes the place of a method of `CheckKind`.
    claims: Callable[[JsonObject], Iterable[Claim]] = lambda _params: ()
    """As `CheckKind.claims`."""
    traits: Callable[[JsonObject], Sequence[CheckTrait]] = lambda _params: ()
    """As `CheckKind.traits`."""
    wanted_calls: Callable[[JsonObject], Iterable[WantedCall]] = lambda _params: ()
    """As `CheckKind.wanted_calls`."""
    valid_calls: Callable[[JsonObject], Iterable[WantedCall]] = described_calls
    """As `CheckKind.valid_calls`."""
    wanted_states: Callable[[JsonObject], Iterable[WantedState]] = lambda _params: ()
    """As `CheckKind.wanted_states`."""
    expects_failure: Callable[[JsonObject, ToolCall], bool] = lambda _params, _call: False
    """As `CheckKind.expects_failure`."""
    stands_anyway: Callable[[CheckResult, Transcript], bool] = lambda _failed, _transcript: False
    """As `CheckKind.stands_anyway`."""

    def parse(self, value: Any) -> Parsed:
        """Return ``(path, params)`` for each check in ``value``.

        Raises:
            InvalidValue: with the path to the invalid part.
        """
        return self.read(value)

    async def evaluate(self, check: Check, evidence: Evidence) -> CheckResult:
        """Judge; a severity in the params takes precedence over the check's own."""
        finding = self.judge(check.params, evidence)
        return build_check_result(
            check, finding if isinstance(finding, CheckFinding) else await finding
        )


def one_call(params: JsonObject) -> Iterable[WantedCall]:
    """Return the one call that ``params`` describe, if they name a tool."""
    return [(params["tool"], params.get("args", {}))] if "tool" in params else []


def listed_calls(params: JsonObject, key: str = "calls") -> list[WantedCall]:
    """Return the calls that ``params`` list."""
    return [(call["tool"], call.get("args", {})) for call in params.get(key, ())]


def build_check_result(check: Check, finding: CheckFinding) -> CheckResult:
    """Return the result of ``check``, its explanation cut to `MAX_EXPLANATION`."""
    lines, hint = finding.why
    return CheckResult(
        kind=check.kind,
        label=clip_text(f"{check.kind} {finding.label}".rstrip(), 120),
        verdict=finding.verdict or passed_if(not lines),
        severity=check.params.get("severity", check.severity),
        expected=finding.expected,
        actual=finding.actual,
        explanation=clip_text("\n".join(lines), MAX_EXPLANATION),
        hint=None if hint is None else clip_text(hint, MAX_EXPLANATION // 2),
        at=check.at,
        score=finding.score,
        attempted=finding.facts.get("attempted"),
        reached_server=finding.facts.get("reached_server"),
        executed=finding.facts.get("executed"),
        line_crossed=finding.facts.get("line_crossed"),
    )


def passed_if(condition: bool) -> Verdict:  # noqa: FBT001 - reads as a sentence where it is called
    """Return the verdict of a check that depends on ``condition``."""
    return "passed" if condition else "failed"


def make_single_reader(reader: Callable[[Any], JsonObject]) -> Callable[[Any], Parsed]:
    """Return a reader of a kind whose whole value is one check."""
    return lambda value: (((), reader(value)),)


def make_list_reader(reader: Callable[[Any, JsonPath], JsonObject]) -> Callable[[Any], Parsed]:
    """Return a reader for a kind that takes a list of checks; a single item needs no list."""

    def read(value: Any) -> Parsed:
        if value is None or value in ([], ()):
            raise InvalidValue(
                "there is no value" if value is None else "this list is empty: nothing is checked",
                meant="Write a list of at least one item, or leave the key out.",
            )
        if isinstance(value, list | tuple):
            return tuple(((index,), reader(item, (index,))) for index, item in enumerate(value))
        return (((), reader(value, ())),)

    return read


def single_or_list_schema(item: JsonObject) -> JsonObject:
    """Return the schema of what a reader made by `make_list_reader` accepts."""
    return {"anyOf": [item, {"type": "array", "items": item, "minItems": 1}]}


# ── The four facts of a policy verdict ───────────────────────────────────────────────────────

# They are four and not one because "the server refused" and "the model never tried" both leave the
# user without the data, and only the first says anything of the policy.
FACTS = ("attempted", "reached_server", "executed", "line_crossed")
"""Fields of a `CheckResult`, and of a trial in JSON, JSONL and CSV."""


def policy_facts(made: Iterable[ToolCall], *, crossed: bool) -> Mapping[str, bool]:
    """Return the four facts of a check about the calls ``made``."""
    calls = tuple(made)
    return {
        "attempted": bool(calls),
        "reached_server": any(
            # Arguments that cannot be sent at all are recorded without any time.
            call.outcome not in NOT_SENT
            and (call.outcome != "invalid_arguments" or call.duration_s)
            for call in calls
        ),
        "executed": any(call.outcome == "ok" for call in calls),
        "line_crossed": crossed,
    }


def combine_facts(checks: Iterable[CheckResult]) -> Mapping[str, bool | None]:
    """Return each fact of a trial: true if it is of any check, ``None`` without policy checks."""
    found: dict[str, bool | None] = dict.fromkeys(FACTS)
    for check in checks:
        for name in FACTS:
            value = getattr(check, name)
            if value is not None:
                found[name] = bool(found[name]) or value
    return found
