"""Keys of a variant that defend a model against planted texts."""

from __future__ import annotations

from typing import Any, Literal, get_args

from harness.base import (
    InvalidValue,
    any_of,
    build_field,
    choice_field,
    describe_value,
    integer_field,
    lines_field,
)
from harness.types import ResultMarking, ToolFilter

_BY_MODEL: Literal["model"] = "model"
_COUNT = integer_field("", least=1)


def _parse_filter(value: Any) -> ToolFilter:
    if value == _BY_MODEL:
        return _BY_MODEL
    if isinstance(value, str):
        message = f"expected 'model' or a number of tools, found {describe_value(value)}"
        raise InvalidValue(message)
    count: int = _COUNT.parse(value)
    return count


DEFENCES = {
    "mark_results": choice_field(
        "How the model is shown that results are data and no orders.", get_args(ResultMarking)
    ),
    "tool_filter": build_field(
        "What chooses the tools that the model can call, by the user's words alone: the model, or "
        "so many that fit them best.",
        any_of({"const": _BY_MODEL}, {"type": "integer", "minimum": 1}),
        _parse_filter,
    ),
    "block": lines_field("Tools whose calls are refused and never sent, by the server's names."),
}
"""Each may stand beside the other keys of a variant."""
