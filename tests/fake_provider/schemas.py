"""Rules for tool schemas that the providers share."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from tests.fake_provider.memory import Memory


def problem_2020_12(schema: Any) -> str | None:
    """Return what makes ``schema`` invalid in JSON Schema draft 2020-12, if anything."""
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return error.message
    return None


def check_once(tools: list[Any], memory: Memory, check: Callable[[list[Any]], None]) -> None:
    """Run ``check`` on tools that were not accepted before.

    Judging schemas takes most of a request's time.
    """
    key = hashlib.blake2b(
        f"{check.__module__} {json.dumps(tools)}".encode(), digest_size=16
    ).digest()
    if key not in memory.accepted_tools:
        check(tools)
        memory.accepted_tools.add(key)


def duplicates(names: list[str]) -> list[str]:
    """Return the names that occur more than once."""
    return sorted({name for name in names if names.count(name) > 1})


def words(text: str) -> frozenset[str]:
    """Return a set of names from one blank-separated text: ``words("model messages")``."""
    return frozenset(text.split())
