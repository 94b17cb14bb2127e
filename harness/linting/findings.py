"""What a rule has to say of a tool, and why there is such a rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Severity: TypeAlias = Literal["error", "warning", "note"]
"""``error``: a call fails, or nothing tells a model what to do. ``warning``: a model is likely to
go wrong. ``note``: good to know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One thing to look for."""

    severity: Severity
    """How bad it is."""
    why: str
    """What comes of it, for the author of the server."""


RULES: Mapping[str, Rule] = {
    "no-tools": Rule(severity="error", why="A model that is offered nothing can do nothing."),
    "unusable-tool": Rule(
        severity="error",
        why="Clients leave such a tool out, or reject the whole list because of it.",
    ),
    "listing-problem": Rule(
        severity="warning", why="Stricter clients refuse or misread what breaks the protocol."
    ),
    "no-description": Rule(
        severity="error",
        why="The description is all that a model knows of a tool; without one it guesses by the "
        "name.",
    ),
    "same-description": Rule(
        severity="error", why="Where two tools say the same, a model chooses by chance."
    ),
    "short-description": Rule(
        severity="warning",
        why="It says hardly more than the name: not when to use the tool, nor what comes back.",
    ),
    "confusable": Rule(
        severity="warning",
        why="A request in the words of the one tool fits the other as well, so either may be "
        "called.",
    ),
    "deprecated": Rule(
        severity="warning",
        why="A model chooses it as readily as what replaced it: the word is one among many.",
    ),
    "undescribed-parameter": Rule(
        severity="warning",
        why="A model fills what it does not understand with what looks plausible.",
    ),
    "undeclared-parameter": Rule(
        severity="warning",
        why="It is required, and nothing says of what type it is: every call is a guess.",
    ),
    "id-without-example": Rule(
        severity="warning",
        why="Without its form, a model makes ids up or passes names in their place.",
    ),
    "date-without-format": Rule(
        severity="warning",
        why="05/04/2025 is a day in May or in April: models write dates as they come.",
    ),
    "choices-in-prose": Rule(
        severity="warning",
        why="A model may send any text where only the description knows the few that are allowed.",
    ),
    "opaque-choices": Rule(
        severity="warning", why="A model cannot tell which code stands for what the user said."
    ),
    "provider-form": Rule(
        severity="warning",
        why="The provider rejects the tool as it is, and with it the whole request. This harness "
        "translates it; "
        "many clients do not.",
    ),
    "unmarked": Rule(
        severity="warning",
        why="No client can tell what to ask about before it is done, and --read-only lets no call "
        "through.",
    ),
    "contradictory-marks": Rule(
        severity="warning", why="Clients skip their confirmation for what is marked harmless."
    ),
    "reads-but-destructive": Rule(
        severity="warning",
        why="Clients ask before every call of it, and people learn to confirm without reading.",
    ),
    "large-tool": Rule(
        severity="warning",
        why="All of it is sent with every request: it costs money, and attention for the others.",
    ),
    "large-list": Rule(
        severity="warning",
        why="It is sent with every request; models choose worse among many and long descriptions.",
    ),
    "unchecked-schema": Rule(
        severity="note",
        why="harness gives up a schema that takes too much work to examine; other clients may hang "
        "on it.",
    ),
    "no-output-schema": Rule(
        severity="note",
        why="With an outputSchema, clients get checked structured data, and results can be "
        "asserted by path.",
    ),
}
"""Every rule by its name, in the order in which findings of one tool are told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LintFinding:
    """One thing that was found."""

    rule: str
    """A name in `RULES`."""
    tool: str | None
    """The tool; ``None`` when the list as a whole is meant."""
    parameters: tuple[str, ...] = ()
    """The parameters that are meant: ``filter.from``, ``edits[].text``."""
    message: str
    """What was found, in a sentence."""
    instead: str
    """What to write instead."""

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return RULES[self.rule].severity

    @property
    def why(self) -> str:
        """Why it matters."""
        return RULES[self.rule].why
