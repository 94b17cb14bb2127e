"""A turn is the user's, a reply the model's: no field of a record says it otherwise."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

from harness import types


def test_only_what_the_user_says_is_called_a_turn() -> None:
    offered = [getattr(types, name) for name in dir(types)]
    nouns = [noun for noun in offered if isinstance(noun, type) and is_dataclass(noun)]
    found = {
        (noun.__name__, field.name)
        for noun in nouns
        for field in fields(noun)
        if "turn" in field.name.split("_") or "turns" in field.name.split("_")
    }
    assert found == {("Case", "turns"), ("CheckResult", "turn"), ("SimulatedUser", "max_turns")}
