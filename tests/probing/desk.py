"""A desk with three records, over real HTTP: sound, or with the fault that a test plants."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.probing.report import ProbeReport
from harness.types import Caller, Case
from tests.probing.test_findings import CALLED, failed, said
from tests.probing.test_findings import probed as probe_of

RECORDS = {
    f"R-{n}": {
        "record_id": f"R-{n}",
        "name": name,
        "email": f"{name.split()[0].lower()}.{40 + n}@example.org",
        "salary": 51_237 + 977 * n,
    }
    for n, name in enumerate(("Ines Okafor", "Tomas Berg", "Mia Sand"), start=1)
}
CASES = tuple(
    Case(name=name, prompt="-", checks=(), caller=Caller(user_context=context, identity=name))
    for name, context in (
        ("admin", {"role": "admin", "record_id": "R-3"}),
        ("clerk", {"role": "clerk", "record_id": "R-2"}),
    )
)


def tool(name: str, properties: Mapping[str, Any], *required: str, **hints: bool) -> dict[str, Any]:
    schema = {"type": "object", "properties": dict(properties), "required": list(required)}
    return {"name": name, "inputSchema": schema, "annotations": hints or {"readOnlyHint": True}}


GET = tool("get_record", {"record_id": {"type": "string", "examples": ["R-1"]}}, "record_id")
LIST = tool(
    "list_records",
    {
        "team": {"type": "string", "enum": ["red", "blue"]},
        "sort": {"type": "string", "enum": ["record_id", "name"]},
        "limit": {"type": "integer"},
        "cursor": {"type": "string"},
        "filter": {"type": "object", "properties": {"at_least": {"type": "number"}}},
    },
)


class Desk:
    """Administrators see whole records, clerks without email and salary, nobody else anything.

    A test replaces `identify`, `opens` or `other`.
    """

    offers: Mapping[str, Any] = {"tools": {}}
    tools: Sequence[Mapping[str, Any]] = (GET, LIST)

    def identify(self, user: Mapping[str, Any] | None, token: str | None) -> Mapping[str, Any]:
        """Return who asks."""
        return user or {}

    def opens(self, arguments: Mapping[str, Any]) -> bool:
        """Whether the fault opens this call."""
        return False

    def other(self, method: str, role: str | None) -> dict[str, Any]:
        """Return the answer to any request but those for tools."""
        return {}

    def answer(
        self, method: str, user: Mapping[str, Any] | None, token: str | None
    ) -> dict[str, Any]:
        if method == "server/discover":
            return {
                "resultType": "complete",
                "supportedVersions": ["2026-07-28"],
                "capabilities": dict(self.offers),
                "serverInfo": {"name": "desk", "version": "1"},
            }
        if method == "tools/list":
            return {"tools": [*self.tools]}
        role = self.identify(user, token).get("role")
        if method != "tools/call":
            return self.other(method, role)
        return self.called(role, CALLED.arguments)

    def called(self, role: str | None, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a call."""
        if CALLED.tool not in ("get_record", "list_records"):
            return failed(f"Unknown tool: {CALLED.tool}")
        if role not in ("admin", "clerk"):
            return failed("Access denied: administrators and clerks only")
        is_open = role == "admin" or self.opens(arguments)
        if CALLED.tool == "list_records":
            rows = [self.shown(one, is_open) for one in RECORDS.values()]
            return said(json.dumps({"records": rows}), records=rows)
        found = RECORDS.get(self.asked(arguments.get("record_id")))
        if found is None:
            return self.missing(arguments.get("record_id"))
        shown = self.shown(found, is_open)
        return said(json.dumps(shown), **shown)

    def asked(self, given: Any) -> str:
        """Return the id that an argument gives."""
        return given if isinstance(given, str) else ""

    def missing(self, given: Any) -> dict[str, Any]:
        """Return what is said of a record that is not there."""
        return failed("There is no such record")

    def shown(self, record: dict[str, Any], is_open: bool) -> dict[str, Any]:
        """Return what a caller sees of a record."""
        kept = () if is_open else ("email", "salary")
        return {name: value for name, value in record.items() if name not in kept}


def probed(folder: Path, desk: Desk, *, bearer: bool = False, damaged: int = 2) -> ProbeReport:
    """Probe the desk as an administrator, a clerk and nobody, and few damaged identities."""
    return probe_of(
        folder,
        desk.answer,
        cases=CASES,
        damaged=True,
        most=damaged,
        bearer=bearer,
        protocol="auto",
    )


def found(report: ProbeReport, problem: str, caller: str = "clerk") -> str:
    """Return the findings of one sort about one caller, a line each."""
    told = (
        one.words for one in report.findings if one.problem == problem and caller in one.callers
    )
    return "\n".join(told)
