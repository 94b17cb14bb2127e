"""How a probe answers the question of a gate: as a user does, and as no form allows."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from harness.base import find_misfits
from harness.models import split_words
from harness.probing.planned_calls import ProbeCall
from harness.sessions import ElicitReply
from harness.types import Elicitation, ElicitRule, JsonObject

GateAnswer: TypeAlias = Literal[
    "decline", "cancel", "unable", "empty", "misfit", "unticked", "accept", "again"
]
"""``unable``: a client that cannot be asked. ``empty``: accepted, without what the form requires.
``misfit``: accepted, each value of another type. ``unticked``: accepted, the box of the consent
left empty. ``again``: accepted, for a second record in the same session."""
WORDS: Mapping[GateAnswer, str] = {
    "decline": "declined",
    "cancel": "cancelled",
    "unable": "with a client that cannot be asked",
    "empty": "accepted without what the form requires",
    "misfit": "accepted with values outside the form",
    "unticked": "accepted with the box left empty",
    "accept": "accepted",
    "again": "accepted for another record",
}
"""Each answer in words, behind the name of a call."""
_UNKNOWN = "harness_unknown"
_AGREES = re.compile(
    r"\b(?:confirm|agree|approv|consent|sure|proceed|accept|authori[sz]|understand)"
)
_YES = frozenset({"yes", "y", "ok", "true", "confirm", "approve", "accept", "agree", "proceed"})
_SAMPLES: Mapping[str, Any] = {
    "email": "someone@example.org",
    "uri": "https://example.org",
    "date": "2026-01-15",
    "date-time": "2026-01-15T09:00:00Z",
    "boolean": True,
}


def may_change(answer: GateAnswer) -> bool:
    """Whether a user who answers so agrees."""
    return answer in ("accept", "again")


@dataclass(slots=True)
class GateUser:
    """The user of one call, who answers each of its questions in one way."""

    call: ProbeCall
    answer: GateAnswer
    rules: Sequence[ElicitRule] = ()
    """How the suite has forms filled in."""
    watch: Callable[[], Awaitable[None]] | None = None
    """Is called while the question waits for its answer."""
    is_possible: bool = field(default=True, init=False)
    """Whether the form can be answered in this way at all."""

    async def decide(self, asked: Elicitation) -> ElicitReply:
        """Return the answer to ``asked``."""
        if self.watch is not None:
            await self.watch()
        if self.answer in ("decline", "cancel"):
            action: Any = self.answer
            return ElicitReply(action=action, by="the probe")
        schema = asked.schema or {}
        if may_change(self.answer):
            content = self._fill_in(schema)
            return ElicitReply(action="accept", content=content, by="the probe", is_written=False)
        spoiled = _spoil(schema, self.answer)
        if spoiled is None:
            self.is_possible = False
            return ElicitReply(action="cancel", by="the probe")
        return ElicitReply(action="accept", content=spoiled, by="the probe", is_raw=True)

    def _fill_in(self, schema: JsonObject) -> JsonObject:
        """Return what somebody who agrees fills in."""
        fields = schema.get("properties", {})
        for rule in self.rules:
            if rule.answer == "accept" and rule.content and not find_misfits(schema, rule.content):
                return rule.content
        return {
            name: self._choose_value(field)
            for name, field in fields.items()
            if name in schema.get("required", ()) or field.get("type") == "boolean"
        }

    def _choose_value(self, field: Mapping[str, Any]) -> Any:
        kind = field.get("type")
        options = field.get("enum") or [one.get("const") for one in field.get("oneOf", ())]
        if options:
            deeds = {*split_words(self.call.tool), *_YES}
            return next((one for one in options if deeds & {*split_words(str(one))}), options[0])
        if kind == "array":
            return [self._choose_value(field.get("items", {}))]
        if kind in ("integer", "number"):
            return field.get("default", field.get("minimum", 1))
        # Whoever deletes something is often made to type its name.
        typed = [value for value in self.call.arguments.values() if isinstance(value, str)]
        sample = _SAMPLES.get(str(field.get("format", kind)))
        return sample if sample is not None else field.get("default") or [*typed, "yes"][0]


def _spoil(schema: JsonObject, answer: GateAnswer) -> JsonObject | None:
    """Return content that must not go through; ``None`` if the form has none of this kind."""
    fields: Mapping[str, Any] = schema.get("properties", {})
    if answer == "empty":
        return {} if schema.get("required") else None
    if answer == "misfit":
        wrong = {name: _choose_misfit(field) for name, field in fields.items()}
        return wrong if wrong and find_misfits(schema, wrong) else None
    if len(fields) != 1:
        return None
    [(name, field)] = fields.items()
    said = " ".join(split_words(f"{name} {field.get('title', '')}"))
    is_box = field.get("type") == "boolean" and _AGREES.search(said) is not None
    return {name: False} if is_box else None


def _choose_misfit(field: Mapping[str, Any]) -> Any:
    is_choice = "enum" in field or "oneOf" in field
    return 7 if field.get("type") == "string" and not is_choice else _UNKNOWN
