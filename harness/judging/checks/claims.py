"""What checks claim of a conversation: how many calls there are, and what is in its texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Literal, TypeAlias

from harness.judging.checks.witness.expectations import exclude_each_other, implies_pattern
from harness.types import JsonObject, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CallsClaim:
    """How many calls of a sort there are."""

    tool: str | None = None
    """The tool; ``None``: any."""
    args: JsonObject = field(default_factory=dict)
    """What their arguments match."""
    least: int = 0
    """At least so many."""
    most: int | None = None
    """At most so many."""
    outcome: Literal["ok", "error"] | None = None
    """How they end; ``None``: in any way."""
    other_than: Sequence[JsonObject] = ()
    """Calls that are not meant."""
    enough: bool = False
    """Whether the check passes whenever this holds, so that without it, the check fails."""

    def includes(self, other: CallsClaim) -> bool:
        """Whether every call that ``other`` requires is one that this claim is about."""
        return (
            self.tool in (None, other.tool)
            and self.outcome in (None, other.outcome)
            and implies_pattern(other.args, self.args)
            and all(are_disjoint(call["tool"], call["args"], other) for call in self.other_than)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TextClaim:
    """What a text contains."""

    of: str = "answer"
    """``answer``, or ``result``."""
    tool: str | None = None
    """The tool whose results are meant; ``None``: any."""
    has: str = ""
    """What is in it."""
    lacks: str = ""
    """What is not in it."""
    whole: bool = False
    """Whether `has` is all of it."""
    enough: bool = False
    """Whether the check passes whenever this holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EitherClaim:
    """At least one of several claims holds."""

    options: Sequence[CallsClaim | TextClaim]
    """The claims."""


Claim: TypeAlias = CallsClaim | TextClaim | EitherClaim


def are_disjoint(tool: str | None, args: JsonObject, other: CallsClaim) -> bool:
    """Whether no call is both of ``tool`` with such ``args`` and one of ``other``."""
    # A claim without a tool is about any, so a call may be of both.
    if None in (tool, other.tool):
        return False
    return tool != other.tool or exclude_each_other(args, other.args)
