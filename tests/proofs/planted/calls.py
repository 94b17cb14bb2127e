"""One request as the clinic sees it, and the shapes of its tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types

USER_KEY = "harness/user_context"
"""Where `_meta` says who asks, over stdio."""


@dataclass
class Call:
    """A request that concerns data: a call of a tool, or a read of a resource or prompt."""

    tool: str
    """Name of the tool; of a resource or prompt, what is read as (``get_patient``)."""
    args: dict[str, Any]
    meta: Mapping[str, Any] = field(default_factory=dict)
    """`_meta` of the request."""
    claims: Mapping[str, Any] | None = None
    """Over HTTP, the claims of the verified token; `None` over stdio."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Over HTTP, the headers of the request."""
    session: str = ""
    """Over HTTP, the session of the request."""
    who: Mapping[str, Any] = field(default_factory=dict)
    """The caller's attributes, once they are known."""


class Refusal(Exception):
    """The policy forbids the call; the text says why."""


class Mistake(Exception):
    """The call cannot be made: no such record, or bad arguments."""


_TEXT: dict[str, Any] = {"type": "string"}
_PATIENT = {"type": "string", "description": "Id of a patient, such as P-1001."}
_READS = types.ToolAnnotations(read_only_hint=True)
_WRITES = types.ToolAnnotations(read_only_hint=False, destructive_hint=True)


def _tool(
    name: str,
    description: str,
    properties: dict[str, Any],
    required: tuple[str, ...] = (),
    annotations: types.ToolAnnotations = _READS,
) -> types.Tool:
    return types.Tool(
        name=name,
        description=description,
        input_schema={
            "type": "object",
            "properties": properties,
            "required": list(required),
            "additionalProperties": False,
        },
        annotations=annotations,
    )


TOOLS: Mapping[str, types.Tool] = {
    tool.name: tool
    for tool in (
        _tool("whoami", "Tell the caller's role and ward.", {}),
        _tool(
            "get_patient", "Show one patient's record.", {"patient_id": _PATIENT}, ("patient_id",)
        ),
        _tool(
            "find_patients",
            "List patients by ward, name or email; a page of them at a time.",
            {
                "ward": {"type": "string", "enum": ["north", "south", "east"]},
                "name": {"type": "string", "description": "Part of the name."},
                "email": {"type": "string", "description": "Part of the email address."},
                "sort": {"type": "string", "enum": ["patient_id", "name", "balance"]},
                "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
                "cursor": {"type": "string", "description": "Where the page before ended."},
                "include_discharged": {"type": "boolean", "default": False},
            },
        ),
        _tool(
            "get_staff",
            "Show one employee's record.",
            {"staff_id": {"type": "string", "description": "Id of an employee, such as S-01."}},
            ("staff_id",),
        ),
        _tool(
            "list_invoices",
            "List invoices, of one patient or by a filter.",
            {
                "patient_id": _PATIENT,
                "filter": {
                    "type": "object",
                    "properties": {"status": _TEXT, "min_amount": {"type": "number"}},
                },
            },
        ),
        _tool(
            "ward_report",
            "Count the patients of a ward, and what they owe.",
            {"ward": _TEXT},
            ("ward",),
        ),
        _tool("export_records", "Export whole records of a ward.", {"ward": _TEXT}, ("ward",)),
        _tool(
            "refund_invoice",
            "Refund an invoice.",
            {"invoice_id": {"type": "string", "description": "Id such as I-301."}},
            ("invoice_id",),
            _WRITES,
        ),
        _tool(
            "update_patient",
            "Change fields of a patient's record.",
            {"patient_id": _PATIENT, "changes": {"type": "object"}},
            ("patient_id", "changes"),
            _WRITES,
        ),
        _tool(
            "delete_patient",
            "Delete a patient's record.",
            {"patient_id": _PATIENT},
            ("patient_id",),
            _WRITES,
        ),
    )
}
"""The tools of the clinic, by name."""
