"""What a server asks of its user while a call is under way, and how a suite has it answered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, TypeAlias

from harness.types.basics import JsonObject, Location, left_out_if
from harness.types.shared_dataclass import dataclass

ElicitAction: TypeAlias = Literal["accept", "decline", "cancel"]
"""What a user does with a server's question, in the words of MCP."""

ElicitMode: TypeAlias = Literal["form", "url"]
"""``form``: fields to fill in. ``url``: an address to open."""

_SHOWN = 200  # characters of a question in one line

ELICITING = ("elicitation/form", "elicitation/url")
"""The abilities of a client whose user answers questions (`TransportSpec.abilities`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ElicitRule:
    """One rule of a suite for answering a server's questions; the first that fits one answers."""

    answer: Literal["accept", "decline", "cancel", "user"] = "decline"
    """The action; ``user`` leaves it to the simulated user."""
    content: JsonObject = field(default_factory=dict)
    """The values of an accepted form, by field; a field left out has its default."""
    message: str | None = None
    """A text that the question must contain, whatever its case."""
    tool: str | None = None
    """The tool whose call must be under way."""
    form_field: str | None = None
    """A field that the form must have."""
    mode: ElicitMode | None = None
    """The mode that it must have."""
    code: Any = field(default=None, repr=False, compare=False)
    """Instead of an answer: ``(Elicitation) → action, content or None``; never written anywhere."""
    at: Location | None = field(default=None, compare=False)
    """Where the suite states it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Elicitation:
    """One question of a server to its user, and the answer that it got."""

    message: str
    """The question."""
    mode: ElicitMode = "form"
    """How it asks."""
    tool: str = ""
    """The tool whose call was under way; empty if none was."""
    request_id: str = ""
    """The model's id of that call."""
    reply: int = 0
    """The model's reply that asked for the call; 0 for a call of the case itself."""
    asked_s: float = 0.0
    """When it came, in seconds from the start of the conversation."""
    schema: JsonObject | None = None
    """The JSON Schema of the form, within the log's limit; ``None`` for an address."""
    url: str | None = None
    """The address to open; ``None`` for a form."""
    action: ElicitAction = "decline"
    """What was answered."""
    content: JsonObject | None = None
    """The values that were sent, those of secrets redacted; ``None`` unless a form was accepted."""
    answered_by: str = ""
    """What answered, in words: ``rule 1``, ``nothing``."""
    flaw: str | None = field(default=None, metadata=left_out_if(None))
    """What is wrong with the question itself, in words; it is then not accepted."""

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the form's fields."""
        properties = (self.schema or {}).get("properties")
        return tuple(properties) if isinstance(properties, dict) else ()

    def __str__(self) -> str:
        """The question and its answer, in one line."""
        whole = " ".join(self.message.split())
        said = whole if len(whole) <= _SHOWN else f"{whole[: _SHOWN - 1]}…"
        during = f"{self.tool} asked" if self.tool else "the server asked"
        at = f" ({self.url})" if self.url else ""
        by = f" by {self.answered_by}" if self.answered_by else ""
        flaw = f"; {self.flaw}" if self.flaw else ""
        return f"{during}: {said!r}{at} → {self.action}{by}{flaw}"


def group_questions(asked: Iterable[Elicitation]) -> Mapping[str, Sequence[Elicitation]]:
    """Return the questions by the id of the call during which they came; empty: during none."""
    grouped: dict[str, list[Elicitation]] = defaultdict(list)
    for each in asked:
        grouped[each.request_id].append(each)
    return grouped
