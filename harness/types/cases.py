"""What is asked: suites, their cases, and the checks of a case."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field, replace
from typing import Any, Literal, Self, TypeAlias

from harness.types.basics import JsonObject, Location, ScriptedCall
from harness.types.case_parts import (
    Alteration,
    Caller,
    Interruption,
    LeaderboardRules,
    LeakRule,
    Limits,
    Repeats,
)
from harness.types.faults import FaultSet
from harness.types.media import Media
from harness.types.shared_dataclass import dataclass
from harness.types.specs import GuardRails, Isolation, ModelSpec, ServerSpec
from harness.types.variants import Variant

Severity: TypeAlias = Literal["fail", "warn"]
"""``fail``: a failed check fails the trial. ``warn``: it is only shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One requirement of a case, as plain data; `harness.judging.checks` knows how to judge it."""

    kind: str
    """The registered name, for example ``must_call``."""
    params: JsonObject
    """The settings of this kind of check, normalised: ``{"tool": "get_orders", "args": {…}}``."""
    options: tuple[tuple[Check, ...], ...] = ()
    """The alternatives of a group such as ``any_of``, each the checks that must hold together."""
    severity: Severity = "fail"
    """Whether a failure decides the verdict."""
    at: Location | None = None
    """Where the suite states it."""
    code: Any = field(default=None, repr=False, compare=False)
    """The Python object that judges, for a check written as code; never written anywhere."""

    def walk(self) -> Iterator[Check]:
        """Yield this check and every check inside it, each group before its members."""
        yield self
        for member in (member for option in self.options for member in option):
            yield from member.walk()

    def transform(self, change: Callable[[Check], Check]) -> Check:
        """Return this check with ``change`` applied to it and to every check inside it."""
        options = tuple(
            tuple(member.transform(change) for member in option) for option in self.options
        )
        return change(replace(self, options=options))

    def with_location(self, at: Location | None) -> Check:
        """Return this check and every check inside it, as stated at ``at`` in the suite."""
        return self.transform(lambda check: replace(check, at=at))

    def dump_params(self) -> JsonObject:
        """Return the params as JSON, with those of the checks inside it under ``options``."""
        if not self.options:
            return self.params
        options = [
            [{"kind": member.kind, "params": member.dump_params()} for member in option]
            for option in self.options
        ]
        return {**self.params, "options": options}


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One thing that the user says in a conversation of several turns, or calls in its place."""

    prompt: str
    """Their words."""
    checks: tuple[Check, ...] = ()
    """What must hold for everything up to the answer to this turn."""
    fresh: bool = False
    """Whether a new conversation begins here: the model forgets everything said before, the server
    keeps its state."""
    ingest: bool = False
    """Whether it only tells the model what later turns will ask about, and needs no answer."""
    calls: tuple[ScriptedCall, ...] = ()
    """Calls that are made in place of a conversation: no model is asked, and nothing is said."""
    attach: tuple[Media, ...] = ()
    """Files that come with the words."""

    @property
    def marks(self) -> list[str]:
        """What determines its trials beside words and checks."""
        return [*(["fresh"] if self.fresh else []), *(file.sha256 for file in self.attach)]


GREETING = "Hi! How can I help you today?"
"""What a simulated user hears first by default; the model under test never sees it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedUser:
    """The user of a conversation with the model under test: a model, a script, or a program."""

    scenario: str = ""
    """Who they are and what they want; told to the model that plays them."""
    model: str | None = None
    """Name of that model; ``None`` means the one that the suite or the command line names."""
    script: tuple[str, ...] = ()
    """What they say in turn, instead of a model; after the last line they stop."""
    code: Any = field(default=None, repr=False, compare=False)
    """Instead of a model: ``(messages of the user's side of the conversation) → what they say``,
    ``None`` to stop; never written anywhere."""
    first_message: str | None = None
    """What they say first; ``None`` leaves it to the model, script or program."""
    greeting: str = GREETING
    """What they hear before they say anything; the model under test never sees it."""
    guidelines: str | None = None
    """How to play a user, instead of `harness.runner.users`."""
    tools: tuple[str, ...] = ()
    """Tools of the server that are the user's own: the model that plays them may call them, and the
    model under test has only the others."""
    max_turns: int = 20
    """Messages of the user in one trial; one more would end it as ``user_limit``."""
    stop_when: tuple[str, ...] = ("###STOP###", "###OUT-OF-SCOPE###")
    """Texts in the user's message that end the conversation (``user_stop``)."""
    transfer_when: tuple[str, ...] = ("###TRANSFER###",)
    """Texts in the user's message, or names of successfully called tools, after which the user is
    handed over to somebody else (``transfer``)."""
    agent_stop_when: tuple[str, ...] = ()
    """Texts in an answer of the model under test that end the conversation (``agent_stop``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question to the model, or a conversation of several turns, and what must come of it."""

    name: str
    """Unique in the suite."""
    prompt: str
    """What the user says; with `turns`, the first of them."""
    checks: tuple[Check, ...]
    """What must hold at the end. There is at least one unless a turn has checks: a case that checks
    checks nothing is an invalid suite."""
    wordings: tuple[str, ...] = ()
    """Other ways to say `prompt`. A run asks the prompt alone; see `Variant.prompts`."""
    turns: tuple[Turn, ...] = ()
    """Everything that the user says, in order; empty if `prompt` is all of it."""
    user: SimulatedUser | None = None
    """The simulated user, if nothing is written down for the user to say; `prompt` then only tells
    readers what the case is about."""
    setup: tuple[ScriptedCall, ...] = ()
    """Calls made before the conversation; if one fails, the trial is an error."""
    teardown: tuple[ScriptedCall, ...] = ()
    """Calls made after it, however it ended; one that fails is a warning."""
    caller: Caller = field(default_factory=Caller)
    """Who asks."""
    repeats: Repeats = field(default_factory=Repeats)
    """How often it is run, and which cases repeat it."""
    limits: Limits = field(default_factory=Limits)
    """What ends the conversation early."""
    description: str | None = None
    """Why the case exists, in a sentence."""
    tags: tuple[str, ...] = ()
    """Free labels to select cases by."""
    metadata: JsonObject = field(default_factory=dict)
    """Copied to the log, JSON and JSONL, never interpreted."""
    server: ServerSpec | None = None
    """The server for its tools, if not the suite's."""
    leaderboard: LeaderboardRules = field(default_factory=LeaderboardRules)
    """How a public leaderboard runs and judges it; by default nothing special."""
    interruption: Interruption = field(default_factory=Interruption)
    """What is done to its trials while they run; by default nothing."""
    at: Location | None = None
    """Where the suite defines it."""

    @property
    def test(self) -> str | None:
        """`Repeats.test`."""
        return self.repeats.test

    @property
    def calls(self) -> tuple[ScriptedCall, ...]:
        """The calls that are made in place of a conversation; empty if a model is asked."""
        return tuple(call for turn in self.turns for call in turn.calls)

    @property
    def prompts(self) -> tuple[str, ...]:
        """Everything that the user says, in order."""
        if self.calls:
            return ()
        return tuple(turn.prompt for turn in self.turns) or (self.prompt,)

    def with_prompt(self, words: str) -> Case:
        """Return the case with ``words`` in place of the user's first prompt.

        Texts that are told before (`Turn.ingest`) stay. A simulated user has no prompt: for such a
        case this is an error of the caller.
        """
        assert self.user is None
        first = next((place for place, turn in enumerate(self.turns) if not turn.ingest), None)
        turns = tuple(
            replace(turn, prompt=words) if place == first else turn
            for place, turn in enumerate(self.turns)
        )
        return replace(self, prompt=words, turns=turns)

    @property
    def conversation_count(self) -> int:
        """How many conversations it takes: one, plus one for each turn that begins a new one."""
        return 1 + sum(turn.fresh for turn in self.turns[1:])

    @property
    def every_check(self) -> tuple[Check, ...]:
        """The checks of all turns in order, then those of the whole conversation."""
        return (*(check for turn in self.turns for check in turn.checks), *self.checks)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFacts:
    """The part of a case that results carry, to show, group and judge them without the suite."""

    name: str
    """`Case.name`."""
    description: str | None = None
    """`Case.description`."""
    user_context: JsonObject | None = None
    """`Caller.user_context`: who asked."""
    tags: tuple[str, ...] = ()
    """`Case.tags`."""
    metadata: JsonObject = field(default_factory=dict)
    """`Case.metadata`."""
    pass_threshold: float = 1.0
    """`Repeats.pass_threshold`."""
    test: str | None = None
    """`Repeats.test`."""
    group: str | None = None
    """`Caller.group`."""
    identity: str | None = None
    """`Caller.identity`."""
    leaks: LeakRule = "fail"
    """`Caller.leaks`."""
    at: Location | None = None
    """`Case.at`."""

    @classmethod
    def from_case(cls, case: Case) -> Self:
        """Return the facts of ``case``."""
        return cls(
            name=case.name,
            description=case.description,
            user_context=case.caller.user_context,
            tags=case.tags,
            metadata=case.metadata,
            pass_threshold=case.repeats.pass_threshold,
            test=case.test,
            group=case.caller.group,
            identity=case.caller.identity,
            leaks=case.caller.leaks,
            at=case.at,
        )

    def __str__(self) -> str:
        """The case's name."""
        return self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A file of cases against one server."""

    name: str
    """Unique among the suites of a project."""
    cases: tuple[Case, ...]
    """In the order of the file."""
    description: str | None = None
    """What the suite is about."""
    model: str | ModelSpec | None = None
    """Default model; ``--model`` overrides it. A suite in Python may bring a function as one."""
    server: ServerSpec | str | tuple[str, ...] | None = None
    """The server itself, or the name of a configured one, or the names of several; ``None`` means
    the suite's own name."""
    isolation: Isolation | None = None
    """Replaces the server's isolation; ``None`` leaves it."""
    guard: GuardRails = field(default_factory=GuardRails)
    """Calls that its cases never send, in addition to those that the server's own guard rails
    forbid."""
    system_prompt: str | None = None
    """Sent to the model before the conversation."""
    require_identity: bool = False
    """Whether it is a failure, not just a warning, that no two identities ever saw a difference."""
    judge_model: str | None = None
    """The model that grades answers, for checks that need one."""
    user_model: str | None = None
    """The model that plays simulated users who name none themselves."""
    digest: str = ""
    """SHA-256 of the file's content: two runs with equal digests asked the same."""
    at: Location | None = None
    """The file."""
    reference: str | None = None
    """How to refer to it, if not by its file: ``my.module:Suite``."""
    typical_tokens: tuple[int, int] | None = None
    """Input and output tokens of one trial, to estimate the cost before the first run; ``None``
    means a rule of thumb."""
    estimate_cost: Callable[[str, int, int], float | None] | None = field(
        default=None, repr=False, compare=False
    )
    """``(model, input tokens, output tokens) → US dollars``, instead of the price table."""
    leaderboard: str | None = None
    """The public leaderboard that it belongs to, which knows how to replay recorded outputs."""
    scores: JsonObject | None = None
    """How cases add up to scores, as read by `harness.reports.sections.scores`; ``None`` if the
    pass rate says everything."""
    variants: tuple[Variant, ...] = ()
    """Changed tool lists that the model may be shown, for ``--variant``."""
    faults: tuple[FaultSet, ...] = ()
    """What goes wrong in further trials of each case."""
    alterations: tuple[Alteration, ...] = ()
    """Withheld values to be altered by a probe (`harness.probing.interference`)."""
    notes: tuple[str, ...] = ()
    """Remarks of its reader that are not errors, each with its place."""
    left_out: tuple[Case, ...] = field(default=(), repr=False, compare=False)
    """Cases that were not selected; they are kept because their users are users of the server,
    too."""

    @property
    def model_name(self) -> str | None:
        """The name of its default model."""
        return self.model.name if isinstance(self.model, ModelSpec) else self.model


CheckTrait: TypeAlias = Literal[
    "expects_calls",
    "forbids_calls",
    "no_success",
    "withholds",
    "decides_access",
    "judges_refused_session",
    "wants_refused_session",
    "reads_end_state",
    "says_tool_asks",
    "grades",
    "judge_decides",
    "counts_turns",
]
"""One thing that holds for a check because of its kind and settings:

- ``expects_calls``: its tools must be called, however the calls end.
- ``forbids_calls``: the calls that it describes must not be made.
- ``no_success``: it asks for calls that do not succeed, or for none.
- ``withholds``: it asks the server to keep something back: a refusal is what it asks for, a
  breakdown is not.
- ``decides_access``: it states the server's decision about a caller, under ``is`` of its params and
  of what it expects and finds, and the fields to be withheld under ``without``.
- ``judges_refused_session``: it can be judged although the server refused the caller a session.
- ``wants_refused_session``: it passes only if the server did.
- ``reads_end_state``: it can be judged only when the conversation is over.
- ``says_tool_asks``: the tool that it names asks its user something.
- ``grades``: what it finds has ``metrics`` with scores.
- ``judge_decides``: a judge alone decides it, and what it finds names the ``judge``.
- ``counts_turns``: the share of right turns decides, so that no single turn does.
"""
