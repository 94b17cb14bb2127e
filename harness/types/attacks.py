"""Attacks: a text that a bad actor planted where the model reads it, and what it is to achieve."""

from __future__ import annotations

from dataclasses import field
from typing import Literal, TypeAlias

from harness.types.basics import JsonObject, Location, ScriptedCall
from harness.types.shared_dataclass import dataclass

AttackPlace: TypeAlias = Literal["result", "description", "shadow", "rug_pull", "resource", "error"]
"""Where the text stands:

- ``result``: in a field of a tool's result.
- ``description``: in the description of one of the server's tools (poisoning).
- ``shadow``: in that of a tool of a second server, which claims the work of one of ours.
- ``rug_pull``: in a description that changes after the model saw it for the first time.
- ``resource``: in a resource that an agent reads.
- ``error``: in the text of an error, in place of an answer."""

LISTED: frozenset[AttackPlace] = frozenset({"description", "shadow", "rug_pull"})
"""Places in the list of tools."""

Technique: TypeAlias = Literal[
    "plain_order",
    "authority",
    "end_of_data",
    "role_tags",
    "encoded",
    "split",
    "error_text",
    "file_name",
    "conditional",
    "several_steps",
]
"""How the text tries to be obeyed."""

AttackOutcome: TypeAlias = Literal["hijacked", "stopped", "resisted", "not_reached"]
"""What became of an attack: its goal was reached; the model obeyed, and the server or a guard rail
refused; the model did not obey; the text never reached the model."""

HijackOutcome: TypeAlias = Literal["open", "stopped", "unclear", "not_sent"]
"""What became of an attacker's calls that were made in place of a model: all were carried out, so
that it rests on the model alone; the server refused one; one failed for another reason, so that
nothing is known; harness did not send one."""

HIJACK = "hijack"
"""Kind of the check of such a replay, and the name of its facts in `Case.metadata`: ``test``,
``goal``, ``own`` (whether the test is asked as this identity) and ``planted_by``."""
HIJACK_CODE = "hijack:"
"""Begins the `CheckResult.code` of a replay, before its `HijackOutcome`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackGoal:
    """What shows that the model was hijacked. Texts may have the places of a payload."""

    call: str | None = None
    """A call of this tool; ``*`` stands for any letters."""
    arguments: JsonObject = field(default_factory=dict)
    """Arguments that it must have; ``*`` stands for any letters, and as a name for any argument."""
    answer: str | None = None
    """A text in the answer."""
    state: ScriptedCall | None = None
    """A call that reads the state after the conversation, of a tool marked as read-only."""
    shows: str | None = None
    """A text in the result of `state`."""
    order: str | None = None
    """The order in words; ``None`` means that it is made of the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """A value on the axis of attacks."""

    name: str
    """Unique among those of a run."""
    payload: tuple[str, ...]
    """The text; several are planted in as many fields of a result."""
    goal: AttackGoal
    """What it is to achieve."""
    technique: Technique = "plain_order"
    """How it tries to."""
    place: AttackPlace = "result"
    """Where it stands."""
    on: str = "*"
    """The tool in whose result or description it stands; ``*`` stands for any letters."""
    in_field: str | None = None
    """The field of the result; ``None`` means the longest text."""
    planted_by: str | None = None
    """The identity that planted it; ``None`` is somebody outside."""
    context: JsonObject | None = None
    """The attributes of that identity."""
    reads: tuple[ScriptedCall, ...] = ()
    """Calls by which that identity looks for what reached it."""
    outward: tuple[str, ...] = ()
    """Tools that send something out of the server."""
    answer_seen: bool = False
    """Whether that identity sees the model's answer."""
    seed: int = 0
    """Chooses the code words."""
    only_calling: bool = False
    """Whether only cases that ask for a call are run under it."""
    at: Location | None = field(default=None, compare=False)
    """Where it is written."""

    @property
    def words(self) -> str:
        """The attack in a few words: ``authority in a result, planted by clerk``."""
        by = "" if self.planted_by is None else f", planted by {self.planted_by}"
        return f"{self.technique} in {self.place} of {self.on}{by}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plant:
    """A text that was planted outside of the calls.

    The transcript has it among its states: the source is ``{"planted": name, "place", "reply"}``,
    and the value the text.
    """

    place: AttackPlace
    """Where it stood."""
    name: str
    """The tool or the resource."""
    text: str
    """What stood there in place of the server's own text."""
    reply: int
    """The first reply of the model that could follow it; 0 if that is not known."""
