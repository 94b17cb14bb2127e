"""Whether a drafted value is valid for a tool's schema.

The schema comes from the server and may be anything: a value that cannot be validated within the
budget counts as invalid.
"""

from __future__ import annotations

import json
import re
from typing import Any

from harness.base.validation.budget import Budget, get_active_budget
from harness.base.validation.validators import Validation, validate_value
from harness.types import JsonObject

STEPS = 10_000
"""Most validation steps for the arguments of one tool, about 50 ms; most tools need a tenth."""

_CONTROL = re.compile(r'\\[^"\\]')  # JSON's escapes of line breaks and other control characters
_LONGEST = 160  # characters of a value as JSON that fits into a prompt


def is_speakable(value: Any) -> bool:
    """Whether ``value`` is plain JSON, short, and on one line, so that a prompt can contain it."""
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        text.encode()
    except (TypeError, ValueError, RecursionError):
        return False
    return len(text) <= _LONGEST and text.isprintable() and _CONTROL.search(text) is None


def matches_schema(value: Any, schema: JsonObject, root: JsonObject) -> bool:
    """Whether ``value`` is valid for ``schema``, a part of ``root``, the base of references."""
    # References in the part are written for the root, so its definitions come along.
    shared = {word: root[word] for word in ("$defs", "definitions") if word in root}
    return is_valid(value, {**shared, "allOf": [schema]})


def is_valid(value: Any, schema: JsonObject) -> bool:
    """Whether ``value`` is valid for the whole ``schema``, as far as the budget allows."""
    budget = get_active_budget() or Budget(STEPS)
    return budget.left >= 0 and validate_value(value, dict(schema), budget, most=1) == Validation()
