"""Fields that no result may give to an identity: how they are written, and which were given.

``without: email``, ``without: [email, phone]``, or with what may stand in their place::

    without: {fields: [email], mask: partial, readable: "<=25%"}

A name that no result of anybody has is an error (`harness.judging.run_judge`), unless
``allow_unknown: true`` says that it may be so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.base import InvalidValue, did_you_mean
from harness.judging.checks.explaining.transcript_lines import result_json
from harness.judging.checks.parsing import TEXT, read_mapping, read_text, read_texts
from harness.judging.matching.json_values import every_field, format_value, is_number
from harness.judging.secrecy.masks import is_masked, is_unreadable, readable_share
from harness.types import JsonObject, JsonPath, ToolCall

FIELD_NAMES: list[JsonObject] = [TEXT, {"type": "array", "items": TEXT, "minItems": 1}]
"""Schemas of the names of fields."""
MASKS = ("none", "partial", "any")
"""What may stand in place of a field that must be absent: nothing; a mask that leaves little
readable; anything that looks like a mask."""
FIELDS: JsonObject = {
    "anyOf": [
        *FIELD_NAMES,
        {
            "type": "object",
            "properties": {
                "fields": {"anyOf": FIELD_NAMES},
                "mask": {"enum": list(MASKS)},
                "readable": {"type": ["string", "number"]},
                "allow_unknown": {"type": "boolean"},
            },
            "required": ["fields"],
            "additionalProperties": False,
        },
    ]
}
"""Schema of ``without``."""


def read_absent(value: Any) -> list[str] | JsonObject:
    """Return the names of fields that must be absent, or these with how they may be masked.

    Raises:
        InvalidValue: they are not written so.
    """
    path: JsonPath = ("without",)
    if not isinstance(value, Mapping):
        return read_names(value, path)
    found = read_mapping(
        value, path, required=("fields",), optional=("mask", "readable", "allow_unknown")
    )
    found["fields"] = read_names(found["fields"], (*path, "fields"))
    found["mask"] = found.get("mask", "partial")
    if found["mask"] not in MASKS:
        meant = did_you_mean(str(found["mask"]), MASKS) or f"Write one of {', '.join(MASKS)}."
        words = f"there is no mask {format_value(found['mask'])}"
        raise InvalidValue(words, path=(*path, "mask"), meant=meant)
    if not isinstance(found.get("allow_unknown", False), bool):
        raise InvalidValue("this is neither true nor false", path=(*path, "allow_unknown"))
    if "readable" in found:
        inside = (*path, "readable")
        if found["mask"] != "partial":
            words = f"'readable' says nothing where mask is {found['mask']}"
            raise InvalidValue(words, path=inside)
        found["readable"] = _read_share(found["readable"], inside)
    return found


def read_names(value: Any, path: JsonPath) -> list[str]:
    """Return the names of fields, from one or a list.

    Raises:
        InvalidValue: they are none.
    """
    if isinstance(value, str):
        return [read_text(value, path, "field")]
    return read_texts(value, path, "field")


def _read_share(value: Any, path: JsonPath) -> float:
    """Return a share from 0 to 1, also written ``25%`` or ``<=25%``."""
    written = re.fullmatch(r"(?:<=|≤)?\s*(\d+(?:\.\d+)?)\s*%", str(value).strip())
    found = float(written[1]) / 100 if written is not None else value
    if not is_number(found) or not 0 <= found <= 1:
        words = f"{format_value(value)} is no share of a value"
        raise InvalidValue(words, path=path, meant="Write '<=25%' or 0.25.")
    return float(found)


def read_masks(params: Mapping[str, Any]) -> Mapping[str, float | None]:
    """Return how much of each field under ``without`` a mask may leave readable.

    0 to 1; ``None`` is the default of `harness.judging.secrecy.masks`, -1 forbids even a mask.
    """
    without = params.get("without", ())
    if not isinstance(without, Mapping):
        return dict.fromkeys(without)
    most = {"none": -1.0, "any": 1.0}.get(without["mask"], without.get("readable"))
    return dict.fromkeys(without["fields"], most)


def explain_given(value: Any) -> str:
    """Return what is wrong with a value that must be absent, or with its mask."""
    if not is_masked(value):
        return "Field was given although it must be left out"
    share = readable_share(value)
    if not share:
        return "Field was masked although it must be left out"
    return f"Field was masked, but about {share:.0%} of it can be read"


def find_given_fields(
    masks: Mapping[str, float | None], calls: Sequence[ToolCall]
) -> Iterator[tuple[ToolCall, str, Any]]:
    """Yield every value that ``masks`` forbid, in any form of any result."""
    # Reports write the items of a list as ``rows[].email``.
    wanted = {field.replace("[]", "").casefold(): most for field, most in masks.items()}
    for call in calls:
        forms = [call.structured] if call.structured is not None else []
        # A call of its text alone, since the text may give what the structured result leaves out.
        parsed = result_json(ToolCall(tool="", arguments={}, outcome="ok", reply=0, text=call.text))
        for form in (*forms, parsed):
            for path, _, value in every_field(form):
                own = path.casefold()
                # With the dot: a name that only ends alike is another field.
                limits = [
                    most for name, most in wanted.items() if own == name or own.endswith(f".{name}")
                ]
                # An empty field gives nothing away.
                if value not in (None, "", [], {}) and any(
                    not is_masked(value) or _reads_too_well(value, most) for most in limits
                ):
                    yield call, path, value


def _reads_too_well(mask: Any, most: float | None) -> bool:
    return (most is not None and most < 0) or not is_unreadable(mask, most=most)
