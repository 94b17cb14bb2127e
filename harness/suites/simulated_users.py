"""Reads who the user is: ``user:`` of a test, and ``elicit:``, how they answer a server."""

from __future__ import annotations

from functools import partial
from typing import Any, get_args

from harness.base import (
    TEXT,
    DocumentReader,
    Field,
    InvalidValue,
    Layout,
    Steps,
    Values,
    any_of,
    array_of,
    build_field,
    choice_field,
    describe_value,
    did_you_mean,
    integer_field,
    line_field,
    parse_items,
    parse_mapping,
    refer_to,
    require_text,
    text_field,
)
from harness.types import (
    ElicitAction,
    ElicitMode,
    ElicitRule,
    JsonObject,
    Location,
    SimulatedUser,
)


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


# ── Answers to questions of the server ───────────────────────────────────────────────────────

NONE = "none"
"""Says that the client cannot be asked."""
_ANSWERS = (*get_args(ElicitAction), "user")
_MEANT = f"Write one of {', '.join((*_ANSWERS, NONE))}, or a list of rules: '- answer: decline'."


def _parse_elicit(value: Any) -> str | list[Any]:
    if isinstance(value, list) or value in (*_ANSWERS, NONE):
        given: str | list[Any] = value
        return given
    raise InvalidValue(f"expected rules, found {describe_value(value)}", meant=_MEANT)


def _parse_mode(value: Any) -> str:
    if value not in get_args(ElicitMode):
        known = " or ".join(get_args(ElicitMode))
        raise InvalidValue(f"expected {known}, found {describe_value(value)}")
    mode: str = value
    return mode


def _parse_content(value: Any) -> dict[str, Any]:
    """Parse the values of a form, which MCP allows one level of."""
    content = parse_mapping(value)
    for name, part in content.items():
        texts = isinstance(part, list) and all(isinstance(each, str) for each in part)
        if not texts and not isinstance(part, str | int | float | bool):
            raise InvalidValue(
                f"the field {name!r} is {describe_value(part)}, which no form can take",
                meant="A field takes a text, a number, true, false, or a list of texts.",
            )
    return content


_CONTENT: JsonObject = {
    "type": "object",
    "additionalProperties": {
        "type": ["string", "number", "boolean", "array"],
        "items": {"type": "string"},
    },
}

ELICIT = build_field(
    "How questions of the server are answered: rules, of which the first that fits decides, or one "
    "answer to all. What no rule fits is declined. 'none', or no key: the client cannot be asked.",
    any_of({"enum": [*_ANSWERS, NONE]}, array_of(refer_to("elicit_rule"))),
    _parse_elicit,
)
"""``elicit:`` of a suite and of a test."""

ELICIT_LAYOUT = Layout(
    fields={
        "answer": choice_field(
            "What the user does: decline, accept, cancel, or what the simulated user decides.",
            ("decline", *(each for each in _ANSWERS if each != "decline")),
        ),
        "content": build_field(
            "The values of an accepted form, by field. A field that is left out has its default.",
            _CONTENT,
            _parse_content,
        ),
        "message": text_field("Only for questions with this text, in capitals or not."),
        "tool": line_field("Only while a call of this tool is under way."),
        "field": line_field("Only for forms that have this field."),
        "mode": build_field(
            "Only for questions of this mode.", {"enum": [*get_args(ElicitMode)]}, _parse_mode
        ),
    },
    elsewhere={
        "action": "Did you mean 'answer'?",
        "accept": "Write 'answer: accept', and the values under 'content:'.",
        "values": "Did you mean 'content'?",
    },
)
"""Layout of a rule under ``elicit:``."""


def parse_elicit(value: Any) -> tuple[ElicitRule, ...] | None:
    """Return the rules that a suite in Python gives: as in YAML, or a function that answers.

    Raises:
        InvalidValue: it is neither.
    """
    if callable(value):
        return (ElicitRule(code=value),)
    given = _parse_elicit(list(value) if isinstance(value, tuple) else value)
    if given == NONE:
        return None
    if isinstance(given, str):
        one: Any = given
        return (ElicitRule(answer=one),)
    return tuple(_parse_rule(rule, number) for number, rule in enumerate(given, start=1))


def _parse_rule(rule: Any, number: int) -> ElicitRule:
    given = parse_mapping(rule)
    for key in given:
        if key not in ELICIT_LAYOUT.fields:
            words = f"rule {number} has an unknown key {key!r}"
            raise InvalidValue(words, meant=did_you_mean(key, ELICIT_LAYOUT.fields))
    values = {key: ELICIT_LAYOUT.fields[key].parse(part) for key, part in given.items()}
    return build_rule(values)


def build_rule(values: Values, at: Location | None = None) -> ElicitRule:
    """Return the rule with the parsed ``values`` of its keys.

    Raises:
        InvalidValue: there is content to send, and nothing that accepts.
    """
    if "content" in values and values.get("answer") != "accept":
        raise InvalidValue(
            "only an accepted form sends 'content'",
            path=("content",),
            meant="Write 'answer: accept'.",
        )
    named = {"form_field" if key == "field" else key: value for key, value in values.items()}
    return ElicitRule(**named, at=at)


def read_elicit(
    reading: DocumentReader, path: Steps, values: Values, base: tuple[ElicitRule, ...] | None
) -> dict[str, tuple[ElicitRule, ...] | None]:
    """Return the rules under ``elicit`` of ``values`` at ``path``, before those of ``base``.

    Nothing if there are none; problems are collected.
    """
    if "elicit" not in values:
        return {}
    given, path = values["elicit"], (*path, "elicit")
    if given == NONE:
        return {"elicit": None}
    at = reading.document.locate
    if isinstance(given, str):
        one: Any = given
        return {"elicit": (ElicitRule(answer=one, at=at(path)),)}
    rules = []
    for index, rule in enumerate(given):
        place, noun = (*path, index), f"rule {index + 1} of elicit"
        if not isinstance(rule, dict):
            message = f"{noun}: expected a mapping, found {describe_value(rule)}."
            reading.add_problem(place, message, "Write '- answer: decline'.")
            continue
        values = reading.read_mapping(place, rule, ELICIT_LAYOUT, noun)
        try:
            rules.append(build_rule(values, at(place)))
        except InvalidValue as error:
            reading.add_key_problem((*place, *error.path), f"{noun}: {error.message}.", error.meant)
    return {"elicit": (*rules, *(base or ()))}
