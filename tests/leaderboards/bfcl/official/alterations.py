"""Recorded outputs, altered as models err.

Calls, names and values first, then what they are written in.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from copy import deepcopy
from random import Random
from typing import Any, TypeAlias

MadeCalls: TypeAlias = list[tuple[str, dict[str, Any]]]
Alteration: TypeAlias = Callable[[Random, Any], Any]

VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2.0, 0.5, 10**400, "", " ", "x", "1", "true", "é", "don't",
    'a "b"', "new int[]{1, 2}", [], [1], [1.5, "a"], [[1, 2], [3]], {}, {"a": 1}, {"a": {"b": 1}},
    [{"a": "b"}], "[1, 2]", "{'a': 1}", "x.y",
)  # fmt: skip


def _at(random: Random, calls: MadeCalls) -> int:
    return random.randrange(len(calls))


def _value(random: Random, calls: MadeCalls) -> MadeCalls:
    name, arguments = calls[place := _at(random, calls)]
    if arguments:
        key = random.choice(list(arguments))
        calls[place] = (name, {**arguments, key: _another(random, arguments[key])})
    return calls


def _another(random: Random, value: Any) -> Any:
    near: list[Any] = []
    match value:
        case bool():
            near = [int(value), str(value).lower(), not value]
        case int():
            near = [float(value), str(value), -value, value + 1, bool(value), value * 10**400]
        case float():
            near = [int(value), str(value), -value, value + 0.5]
        case str():
            near = [
                value.upper(),
                f" {value} ",
                value.replace(" ", "_"),
                f"{value}.",
                f"'{value}'",
                [value],
                value + "x",
            ]
        case list():
            near = [
                value[::-1],
                [*value, *value[:1]],
                value[1:],
                [str(one) for one in value],
                [value],
            ]
        case dict():
            near = [
                dict(list(value.items())[1:]),
                {**value, "more": 1},
                [value],
                {"wrapped": value},
            ]
    return random.choice(near if near and random.random() < 0.7 else VALUES)


def _dropped_argument(random: Random, calls: MadeCalls) -> MadeCalls:
    name, arguments = calls[place := _at(random, calls)]
    gone = random.choice(list(arguments)) if arguments else ""
    calls[place] = (name, {key: value for key, value in arguments.items() if key != gone})
    return calls


def _added_argument(random: Random, calls: MadeCalls) -> MadeCalls:
    name, arguments = calls[place := _at(random, calls)]
    calls[place] = (name, {**arguments, "more": 1})
    return calls


def _name(random: Random, calls: MadeCalls) -> MadeCalls:
    name, arguments = calls[place := _at(random, calls)]
    other = [
        name.replace("_", "."),
        name.replace(".", "_"),
        name.upper(),
        f"{name}s",
        name.partition(".")[2] or "f",
    ]
    calls[place] = (random.choice(other), arguments)
    return calls


def _dropped(random: Random, calls: MadeCalls) -> MadeCalls:
    del calls[_at(random, calls)]
    return calls


def _twice(random: Random, calls: MadeCalls) -> MadeCalls:
    return [*calls, deepcopy(calls[_at(random, calls)])]


def _backwards(_random: Random, calls: MadeCalls) -> MadeCalls:
    return calls[::-1]


OF_CALLS = (
    _value,
    _value,
    _value,
    _value,
    _dropped_argument,
    _added_argument,
    _name,
    _name,
    _dropped,
    _twice,
    _backwards,
)
"""Each returns calls altered."""


def altered_calls(random: Random, calls: MadeCalls) -> MadeCalls:
    """Return ``calls`` with something else in them."""
    return random.choice(OF_CALLS)(random, deepcopy(calls)) if calls else calls


# ── What calls are written in ────────────────────────────────────────────────────────────────


def _of_list(random: Random, item: list[Any]) -> Any:
    first = item[0] if item else {"f": "{}"}
    rest = list(item[1:])
    pairs = list(first.items()) if isinstance(first, dict) else [("f", "{}")]
    name, given = pairs[0]
    return random.choice(
        (
            [*item, {}], [{}, *item], [{}], first, {}, [], "", None, 7, [None], [[first]], [item],
            json.dumps(item), [{name: given, "other": given}, *rest], [{name: None}, *rest],
            [{name: [given]}, *rest], [{name: _other_form(given)}, *rest],
            [{name: "{'a': 1}"}, *rest], [{name: "[1]"}, *rest], [*item, "and"], ["Sure."], [""],
            "Sure.", {"name": name, "arguments": given}, [{name: "7"}, *rest], [{name: ""}, *rest],
        )
    )  # fmt: skip


def _other_form(given: Any) -> Any:
    if isinstance(given, str):
        try:
            return json.loads(given)
        except ValueError:
            return {}
    return json.dumps(given)


def _of_text(random: Random, text: str) -> Any:
    cut = random.randrange(len(text) + 1)
    return random.choice(
        (
            f"```{text}```", f"```python\n{text}\n```", f"Sure: {text}", f"{text}\nDone.",
            f"\n {text} \n", f"'{text}'", text.strip("[]"), text.removesuffix("]"),
            text.removeprefix("["), f"[{text}]", text[:cut], text[cut:], "",
            text.replace("=", " = "), text.replace(", ", ","), text.replace("'", '"'),
            text.replace("(", "(1, ", 1), text.replace("[", "(").replace("]", ")"),
            text.replace("=", "=-", 1), text.replace(")", ", a=1)", 1),
            text.replace("(", "(a=(1, 2), ", 1), text.replace("(", "(a=b, ", 1),
            text.replace("(", "(a=f(x=1), ", 1), text.replace("(", "(a=2 * 3 + 1, ", 1),
            text.replace("(", "(a=f(), ", 1), text.replace("(", "(**b, ", 1),
            text.replace("(", "(a={1: 2}, ", 1), text.replace("(", "(a={'k': {'l': 1}}, ", 1),
            f"{text};{text}", text.replace("(", "(a=x[0], ", 1), text.replace("(", "(a=..., ", 1),
            text.replace("(", "(a=1e999, ", 1), [], None, {}, [text], text * 2,
            f"<think>Hm.</think>{text}", "Sorry, I cannot do that.", "[]", "true",
            text.replace("\n", ""), text.replace("arguments", "parameters"),
            text.replace('"name"', '"function"'), text.replace("e", "é", 1),
            text.replace("<", "< "), text + "<tool_call>", text.replace("'", '"', 1),
        )
    )  # fmt: skip


def altered_item(random: Random, item: Any) -> Any:
    """Return one written reply in another container, or another text."""
    return _of_text(random, item) if isinstance(item, str) else _of_list(random, item)


# ── Conversations ────────────────────────────────────────────────────────────────────────────


def altered_turns(random: Random, turns: list[list[Any]]) -> Any:
    """Return a conversation with other turns."""
    turns = deepcopy(turns)
    place = random.randrange(len(turns)) if turns else 0
    turn = turns[place] if turns else []
    steps = (
        [{"post_tweet": '{"content": "x"}'}],
        [{"mention": '{"tweet_id": 10, "mentioned_usernames": ["@x"]}'}],
    )
    several: tuple[Any, ...] = (
        *(
            [*turns[:place], *turns[place + 1 :]],
            [*turns, []],
            turns[::-1],
            [],
            "Sorry.",
            None,
            {},
            7,
            [turns],
            {"a": turns},
        ),
        *_with(
            turns,
            place,
            (
                [],
                "Sorry.",
                "",
                {},
                [*turn, *turn],
                turn[::-1],
                turn[1:],
                turn[:-1],
                [[]],
                [None],
                [7],
            ),
        ),
        *_with(
            turns,
            place,
            (
                [*turn, "Done."],
                [*turn, ["Done."]],
                [*turn, *steps],
                [steps[1], *turn],
                [*turn, [{}]],
            ),
        ),
        *_with(
            turns,
            place,
            (turn[0] if turn else {}, {"ls": "{}"}, {"pwd()": 1}, [*turn, ""], [*turn, [""]]),
        ),
    )
    return random.choice(several)


def _with(turns: list[Any], place: int, others: tuple[Any, ...]) -> list[Any]:
    return [[*turns[:place], other, *turns[place + 1 :]] for other in others] if turns else [turns]


def frozen(value: Mapping[str, Any]) -> str:
    """Return a text by which equal outputs are known."""
    return json.dumps(value, sort_keys=True)
