"""Keywords that compare values, by texts that are equal exactly if the values are equal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema.exceptions import ValidationError

from harness.base.validation.budget import spend_steps

_CHARS_PER_STEP = 1_000
_SHOWN = 100  # choices that an error lists


def check_enum(
    _validator: Any, choices: Any, value: Any, _schema: Any
) -> Iterator[ValidationError]:
    """``enum``, in any draft."""
    # Paid before it is done, since an enum may have millions of choices.
    spend_steps(len(choices) // 16)
    if not any(_is_equal(choice, value) for choice in choices):
        more = f" and {len(choices) - _SHOWN} more" if len(choices) > _SHOWN else ""
        yield ValidationError(f"{value!r} is not one of {choices[:_SHOWN]!r}{more}")


def check_const(
    _validator: Any, expected: Any, value: Any, _schema: Any
) -> Iterator[ValidationError]:
    """``const``."""
    if not _is_equal(expected, value):
        yield ValidationError(f"{expected!r} was expected")


def check_unique_items(
    validator: Any, wanted: Any, value: Any, _schema: Any
) -> Iterator[ValidationError]:
    """``uniqueItems``, in linear time for any items."""
    if wanted and validator.is_type(value, "array"):
        seen = set()
        for item in value:
            text = to_comparable(item)
            if text in seen:
                yield ValidationError(f"{value!r} has non-unique elements")
                return
            seen.add(text)


def to_comparable(value: Any) -> str:
    """Return a text that is equal for equal JSON values: 1 and 1.0, but not 1 and true."""
    spend_steps(1)
    if isinstance(value, str):
        spend_steps(len(value) // _CHARS_PER_STEP)
        return json.dumps(value)
    if isinstance(value, Mapping):
        pairs = (f"{json.dumps(name)}:{to_comparable(value[name])}" for name in sorted(value))
        return f"{{{','.join(pairs)}}}"
    if isinstance(value, list | tuple):
        return f"[{','.join(map(to_comparable, value))}]"
    # 1.0 is the same number as 1 in JSON Schema.
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return repr(value)


def _is_equal(one: Any, other: Any) -> bool:
    if isinstance(one, Mapping | list) and type(one) is type(other):
        return len(one) == len(other) and to_comparable(one) == to_comparable(other)
    # `True == 1` in Python, but not in JSON.
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other)
