"""``user:`` of a test: somebody who talks with the model, in place of words that are written down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.documents.document import Steps
from harness.documents.fields import Field, Layout, as_list, as_mapping, found, integer, line, text
from harness.documents.reading import Reading
from harness.errors import InvalidValue
from harness.types import SimulatedUser


def _marks(value: Any) -> tuple[str, ...]:
    given = value if isinstance(value, list) else [value]
    if not all(isinstance(mark, str) and mark.strip() for mark in given):
        raise InvalidValue(f"expected a text or a list of texts, found {found(value)}")
    return tuple(given)


def _said(value: Any) -> tuple[str, ...]:
    said = as_list(value)
    for place, words in enumerate(said):
        if not isinstance(words, str) or not words.strip():
            raise InvalidValue(f"expected what the user says, found {found(words)}", path=(place,))
    if not said:
        raise InvalidValue("the script is empty", meant="Add what the user says: '- Hello'.")
    return tuple(said)


def _user(value: Any) -> str | dict[str, Any]:
    return value if isinstance(value, str) and value.strip() else as_mapping(value)


def _marks_field(description: str) -> Field:
    one = {"type": "string", "pattern": r"\S"}
    schema = {"anyOf": [one, {"type": "array", "items": one}], "description": description}
    return Field(schema=schema, parse=_marks)


_DEFAULT = SimulatedUser()
USER_MODEL = line(
    "The model that plays simulated users, unless a test or --user-model names another."
)
"""``user_model:`` of a suite."""
USER = Field(
    schema={
        "anyOf": [{"$ref": "#/$defs/user"}, {"type": "string", "pattern": r"\S"}],
        "description": (
            "Somebody who talks with the model, in place of 'prompt' and 'turns'; a "
            "text is their scenario."
        ),
    },
    parse=_user,
)
"""``user:`` of a test."""
USER_LAYOUT = Layout(
    fields={
        "scenario": text(
            "Who they are and what they want; told to the model that plays them, and to nobody "
            "else."
        ),
        "model": line("The model that plays them."),
        "script": Field(
            schema={
                "type": "array",
                "minItems": 1,
                "items": {"type": "string", "pattern": r"\S"},
                "description": (
                    "What they say, one after the other, in place of a model; at its end they stop."
                ),
            },
            parse=_said,
        ),
        "first_message": text(
            "What they say first; without it, the model that plays them decides."
        ),
        "greeting": text(
            "What they hear before they say anything. The model under test never sees it."
        ),
        "guidelines": text("How to play a user, in place of the built-in text."),
        "max_turns": integer(
            "Messages of the user in one trial.", least=1, default=_DEFAULT.max_turns
        ),
        "stop_when": _marks_field(
            "Texts in a message of theirs after which the conversation is over."
        ),
        "transfer_when": _marks_field(
            "Texts in a message of theirs, or tools of which a call went well, after which they "
            "were handed on."
        ),
        "agent_stop_when": _marks_field(
            "Texts in an answer of the model after which the conversation is over."
        ),
    },
    elsewhere={
        "prompt": "What they say first stands under 'first_message:'.",
        "persona": "Put it into 'scenario:'.",
        "instructions": (
            "Put it into 'scenario:', or under 'guidelines:' if it says how to play a user."
        ),
        "turns": "What they say one after the other stands under 'script:'.",
        "stop": "Did you mean 'stop_when'?",
    },
)
"""``user:`` of a test, written out."""


def read_user(
    reading: Reading, path: Steps, given: str | Mapping[str, Any], test: str
) -> SimulatedUser:
    """Return the user that ``given`` at ``path`` describes; problems are kept by ``reading``."""
    if isinstance(given, str):
        return SimulatedUser(scenario=given)
    values = reading.record(path, given, USER_LAYOUT, f"user of {test}")
    user = SimulatedUser(**values)
    if given.get("scenario") is None and given.get("script") is None:
        meant = "Add 'scenario:', or 'script:' with what they say."
        reading.problem(
            reading.document.at(path), f"user of {test} has neither 'scenario' nor 'script'.", meant
        )
    for key in ("model", "guidelines", "first_message"):
        if given.get(key) is not None and given.get("script") is not None:
            message = f"{key!r} has no effect beside 'script': nobody is asked what to say."
            reading.problem(reading.document.at_key((*path, key)), message, "Keep one of them.")
    return user


def summary(user: SimulatedUser) -> str:
    """Return what readers are shown in place of a prompt."""
    return user.first_message or (user.script[0] if user.script else user.scenario)
