"""What is asked: suites, their cases, and the checks of a case."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self, TypeAlias

from harness.types.basics import JsonObject, Location, ScriptedCall
from harness.types.case_parts import (
    Caller,
    Interruption,
    LeaderboardRules,
    LeakRule,
    Limits,
    Repeats,
)
from harness.types.parties import GuardRails, Isolation, ServerSpec
from harness.types.variants import Variant

Severity: TypeAlias = Literal["fail", "warn"]
"""``fail``: a failed check fails the trial. ``warn``: it is shown, and changes no verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that a case asks for, as plain data; `harness.checks` knows how to judge it."""

    kind: str
    """The registered name, for example ``must_call``."""
    params: JsonObject
    """What the kind needs, normalised: ``{"tool": "get_orders", "args": {…}}``."""
    options: tuple[tuple[Check, ...], ...] = ()
    """What a group such as ``any_of`` is made of: each option is the checks that hold together."""
    severity: Severity = "fail"
    """Whether a failure decides the verdict."""
    at: Location | None = None
    """Where the suite says it."""
    code: Any = field(default=None, repr=False, compare=False)
    """The live object that judges, where the check is code; never written anywhere."""

    def walk(self) -> Iterator[Check]:
        """Yield this check and every check inside it, each group before its members."""
        yield self
        for member in (member for option in self.options for member in option):
            yield from member.walk()

    def each(self, change: Callable[[Check], Check]) -> Check:
        """Return this check with ``change`` made to it and to every check inside it."""
        options = tuple(tuple(member.each(change) for member in option) for option in self.options)
        return change(replace(self, options=options))

    def placed(self, at: Location | None) -> Check:
        """Return this check, with all that is inside it, as one that the suite states at ``at``."""
        return self.each(lambda check: replace(check, at=at))

    def asked(self) -> JsonObject:
        """Return the params as JSON, those of the checks inside it under ``options``."""
        if not self.options:
            return self.params
        options = [
            [{"kind": member.kind, "params": member.asked()} for member in option]
            for option in self.options
        ]
        return {**self.params, "options": options}


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One thing that the user says in a conversation of several."""

    prompt: str
    """Their words."""
    checks: tuple[Check, ...] = ()
    """What must hold of everything up to the answer to it."""
    fresh: bool = False
    """Whether a new conversation begins with it: the model remembers nothing of what was said
    before, the server is the same."""
    ingest: bool = False
    """Whether it only tells the model what it will be asked about: what is asked are the turns
    after it."""


GREETING = "Hi! How can I help you today?"
"""What a simulated user hears first where nobody says otherwise; the model under test never sees
it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedUser:
    """Somebody who talks with the model under test: a model of its own, a script, or a program."""

    scenario: str = ""
    """Who they are and what they want, told to the model that plays them."""
    model: str | None = None
    """Name of that model; ``None`` is the one that the suite or the command line names."""
    script: tuple[str, ...] = ()
    """What they say one after the other, in place of a model; at its end they stop."""
    code: Any = field(default=None, repr=False, compare=False)
    """In place of a model: ``(messages of the user's side of the conversation) → what they say``,
    ``None`` to stop; never written anywhere."""
    first_message: str | None = None
    """What they say first; ``None`` leaves that to who plays them."""
    greeting: str = GREETING
    """What they hear before they say anything; the model under test never sees it."""
    guidelines: str | None = None
    """How to play a user, in place of `harness.users.guidelines`."""
    max_turns: int = 20
    """Messages of the user in one trial; what would be one more ends it as ``user_limit``."""
    stop_when: tuple[str, ...] = ("###STOP###", "###OUT-OF-SCOPE###")
    """Texts in a message of theirs after which the conversation is over (``user_stop``)."""
    transfer_when: tuple[str, ...] = ("###TRANSFER###",)
    """Texts in a message of theirs, or names of tools of which a call went well, after which they
    are with somebody else (``transfer``)."""
    agent_stop_when: tuple[str, ...] = ()
    """Texts in an answer of the model under test after which the conversation is over
    (``agent_stop``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question to the model, or a conversation of several, and what must come of it."""

    name: str
    """Unique in the suite."""
    prompt: str
    """What the user says; where there are `turns`, what they say first."""
    checks: tuple[Check, ...]
    """What must hold in the end. Unless a turn checks something there is at least one: a case that
    checks nothing is an invalid suite."""
    turns: tuple[Turn, ...] = ()
    """Everything that the user says, one after the other; empty where `prompt` is all of it."""
    user: SimulatedUser | None = None
    """Who says it, where that is not written down; `prompt` then only tells readers what it is
    about."""
    setup: tuple[ScriptedCall, ...] = ()
    """Calls made before the conversation; if one fails, the trial is an error."""
    teardown: tuple[ScriptedCall, ...] = ()
    """Calls made after it, whatever came of it; one that fails is a warning."""
    caller: Caller = field(default_factory=Caller)
    """Who asks."""
    repeats: Repeats = field(default_factory=Repeats)
    """How often it is run."""
    limits: Limits = field(default_factory=Limits)
    """Where the conversation ends."""
    description: str | None = None
    """Why the case exists, in a sentence."""
    tags: tuple[str, ...] = ()
    """Free labels to pick cases by."""
    metadata: JsonObject = field(default_factory=dict)
    """Carried through to the log, JSON and JSONL, never interpreted."""
    server: ServerSpec | None = None
    """Who executes its tools, where that is not the suite's server."""
    leaderboard: LeaderboardRules = field(default_factory=LeaderboardRules)
    """How a public leaderboard runs and judges it; for cases of no leaderboard, nothing special."""
    interruption: Interruption = field(default_factory=Interruption)
    """What is done to its trials while they are under way; by default nothing."""
    allow_no_tools: bool = False
    """Whether it is judged even if the server offers this user no tool at all, which is an error
    otherwise."""
    at: Location | None = None
    """Where the suite defines it."""

    @property
    def prompts(self) -> tuple[str, ...]:
        """Everything that the user says, in order."""
        return tuple(turn.prompt for turn in self.turns) or (self.prompt,)

    @property
    def conversations(self) -> int:
        """How many conversations it takes: one, and one more for each turn that begins another."""
        return 1 + sum(turn.fresh for turn in self.turns[1:])

    @property
    def every_check(self) -> tuple[Check, ...]:
        """The checks of all turns, in order, and those of the whole conversation."""
        return (*(check for turn in self.turns for check in turn.checks), *self.checks)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFacts:
    """What a result carries of its case: enough to show, to group and to judge it without the suite."""

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
    group: str | None = None
    """`Caller.group`."""
    identity: str | None = None
    """`Caller.identity`."""
    leaks: LeakRule = "fail"
    """`Caller.leaks`."""
    at: Location | None = None
    """`Case.at`."""

    @classmethod
    def of(cls, case: Case) -> Self:
        """Return the facts of ``case``."""
        return cls(
            name=case.name,
            description=case.description,
            user_context=case.caller.user_context,
            tags=case.tags,
            metadata=case.metadata,
            pass_threshold=case.repeats.pass_threshold,
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
    model: str | None = None
    """Default model; ``--model`` overrides it."""
    server: ServerSpec | str | tuple[str, ...] | None = None
    """The server itself, or the name of a configured one, or those of several; ``None`` means the
    suite's own name."""
    isolation: Isolation | None = None
    """Overrides the server's; ``None`` leaves it."""
    guard: GuardRails = field(default_factory=GuardRails)
    """Calls that its cases never make, beside those that the server's own guard rails forbid."""
    system_prompt: str | None = None
    """Sent to the model ahead of the conversation."""
    require_identity: bool = False
    """Whether it is a failure, and not only a warning, that no identity ever saw anything
    different."""
    judge_model: str | None = None
    """The model that grades answers, where a check needs one."""
    user_model: str | None = None
    """The model that plays the users of cases that have one and name no model for it."""
    digest: str = ""
    """SHA-256 of the file's content: two runs of equal digest asked the same."""
    at: Location | None = None
    """The file."""
    reference: str | None = None
    """How to name it again, where that is not its file: ``my.module:Suite``."""
    typical_tokens: tuple[int, int] | None = None
    """Input and output of one trial, for an estimate before anything like it was run; ``None`` is a
    rule of thumb."""
    estimate_cost: Callable[[str, int, int], float | None] | None = field(
        default=None, repr=False, compare=False
    )
    """``(model, input tokens, output tokens) → US dollars``, in place of the price table."""
    leaderboard: str | None = None
    """The public leaderboard that it is part of: it knows how recorded outputs are replayed."""
    scores: JsonObject | None = None
    """How cases add up to scores, as `harness.reports.sections.scores` reads it; ``None`` where a
    pass rate says all."""
    variants: tuple[Variant, ...] = ()
    """Tool lists as a model may be told of them, for ``--variant``."""
    notes: tuple[str, ...] = ()
    """What its reader has to say of it short of a mistake, each with its place."""
    left_out: tuple[Case, ...] = field(default=(), repr=False, compare=False)
    """Cases that are not run because nobody picked them: their users are users of the server,
    too."""
