"""Reads ``user:`` of a test: a simulated user, in place of written turns."""

from __future__ import annotations

from functools import partial
from typing import Any

from harness.base import (
    TEXT,
    DocumentReader,
    Field,
    InvalidValue,
    Layout,
    Steps,
    any_of,
    array_of,
    build_field,
    describe_value,
    integer_field,
    line_field,
    parse_items,
    parse_mapping,
    refer_to,
    require_text,
    text_field,
)
from harness.types import JsonObject, SimulatedUser


def _parse_marks(value: Any) -> tuple[str, ...]:
    given = value if isinstance(value, list) else [value]
    if not all(isinstance(mark, str) and mark.strip() for mark in given):
        raise InvalidValue(f"expected a text or a list of texts, found {describe_value(value)}")
    return tuple(given)


def _parse_messages(value: Any) -> tuple[str, ...]:
    said = parse_items(partial(require_text, "the user's messages"), value)
    if not said:
        raise InvalidValue("the script is empty", meant="Add a message of the user: '- Hello'.")
    return said


def _parse_tools(value: Any) -> tuple[str, ...]:
    return tuple(parse_items(partial(require_text, "the user's tools"), value))


def _parse_user(value: Any) -> str | dict[str, Any]:
    return value if isinstance(value, str) and value.strip() else parse_mapping(value)


def _build_marks_field(description: str) -> Field:
    return build_field(description, any_of(TEXT, array_of(TEXT)), _parse_marks)


_DEFAULT = SimulatedUser()
USER_MODEL = line_field(
    "The model that plays simulated users, unless a test or --user-model names another."
)
"""``user_model:`` of a suite."""
USER = build_field(
    "A simulated user who talks with the model, in place of 'prompt' and 'turns'; a text "
    "is the scenario.",
    any_of(refer_to("user"), TEXT),
    _parse_user,
)
"""``user:`` of a test."""
USER_LAYOUT = Layout(
    fields={
        "scenario": text_field(
            "Who the user is and what they want; only the model that plays the user gets it."
        ),
        "model": line_field("The model that plays the user."),
        "script": build_field(
            "The user's messages in order, in place of a model; after the last one the user stops.",
            array_of(TEXT, minItems=1),
            _parse_messages,
        ),
        "first_message": text_field(
            "The user's first message; without it, the model that plays the user decides."
        ),
        "greeting": text_field(
            "What the user is greeted with. The model under test never sees it."
        ),
        "guidelines": text_field("Instructions for playing a user, in place of the built-in text."),
        "tools": build_field(
            "Tools of the server that are the user's own: the model that plays the user may call "
            "them, and the model under test does not have them.",
            array_of(TEXT, minItems=1),
            _parse_tools,
        ),
        "max_turns": integer_field(
            "Messages of the user in one trial.", least=1, default=_DEFAULT.max_turns
        ),
        "stop_when": _build_marks_field("Texts in a user's message that end the conversation."),
        "transfer_when": _build_marks_field(
            "Texts in a user's message, or tools with a successful call, that end the "
            "conversation by a transfer."
        ),
        "agent_stop_when": _build_marks_field(
            "Texts in an answer of the model that end the conversation."
        ),
    },
    elsewhere={
        "prompt": "Write the user's first message under 'first_message:'.",
        "persona": "Put it into 'scenario:'.",
        "instructions": (
            "Put it into 'scenario:', or under 'guidelines:' if it is about playing a user."
        ),
        "turns": "Write the user's messages under 'script:'.",
        "stop": "Did you mean 'stop_when'?",
    },
)
"""Layout of ``user:`` of a test, as a mapping."""


def read_user(
    reading: DocumentReader, path: Steps, given: str | JsonObject, test: str
) -> SimulatedUser:
    """Return the user that ``given`` at ``path`` describes; ``reading`` collects problems."""
    if isinstance(given, str):
        return SimulatedUser(scenario=given)
    values = reading.read_mapping(path, given, USER_LAYOUT, f"user of {test}")
    user = SimulatedUser(**values)
    # By the keys as written: an invalid scenario has been reported, and is not missing.
    if given.get("scenario") is None and given.get("script") is None:
        meant = "Add 'scenario:', or 'script:' with the user's messages."
        message = f"user of {test} has neither 'scenario' nor 'script'."
        reading.add_problem(path, message, meant)
    # A setting without effect is most often a misunderstanding.
    for key in ("model", "guidelines", "first_message", "tools"):
        if given.get(key) is not None and given.get("script") is not None:
            message = f"{key!r} has no effect beside 'script', which has all messages."
            reading.add_key_problem((*path, key), message, "Keep one of them.")
    return user


def format_summary(user: SimulatedUser) -> str:
    """Return a text that reports show in place of a prompt."""
    return user.first_message or (user.script[0] if user.script else user.scenario)
