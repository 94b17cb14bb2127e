"""A few plain checks for suites in tests, so that the reader is tested apart from the real ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.base.errors import InvalidValue, Problem
from harness.types import Case, Check, JsonObject

_ITEM: JsonObject = {
    "anyOf": [
        {"type": "string", "minLength": 1},
        {
            "type": "object",
            "properties": {"tool": {"type": "string"}, "args": {"type": "object"}},
            "required": ["tool"],
            "additionalProperties": False,
        },
    ]
}


class PlainVocabulary:
    """Lists of names or ``{tool, args}``; ``expected_answer`` takes a text."""

    def __init__(
        self,
        names: Sequence[str] = ("must_call", "must_not_call", "answer_contains", "expected_answer"),
    ) -> None:
        self._names = tuple(names)

    def names(self) -> Sequence[str]:
        return self._names

    def schema(self, name: str) -> JsonObject:
        if name == "expected_answer":
            return {"type": "string", "description": "What a judge compares the answer with."}
        return {"type": "array", "items": _ITEM, "description": f"Items of {name}."}

    def parse(self, name: str, value: Any) -> Sequence[tuple[tuple[str | int, ...], Check]]:
        parsed = self._params(name, value)
        return [(path, Check(kind=name, params=params)) for path, params in parsed]

    def find_contradictions(self, case: Case) -> Sequence[Problem]:
        return ()

    def _params(self, name: str, value: Any) -> Sequence[tuple[tuple[str | int, ...], JsonObject]]:
        if name == "expected_answer":
            if not isinstance(value, str):
                raise InvalidValue("expected text")
            return [((), {"text": value})]
        if not isinstance(value, list):
            raise InvalidValue("expected a list.", meant="Write '- item'.")
        return [((index,), self._item(item, index)) for index, item in enumerate(value)]

    def _item(self, item: Any, index: int) -> JsonObject:
        if isinstance(item, str) and item:
            return {"tool": item, "args": {}}
        if not isinstance(item, dict) or not isinstance(item.get("tool"), str):
            raise InvalidValue("an item needs a tool", path=(index,))
        for key in item:
            if key not in {"tool", "args"}:
                raise InvalidValue(
                    f"unknown key {key!r}", path=(index, key), meant="Did you mean 'args'?"
                )
        if not isinstance(item.get("args", {}), dict):
            raise InvalidValue("args must be a mapping", path=(index, "args"))
        return {"tool": item["tool"], "args": item.get("args", {})}
