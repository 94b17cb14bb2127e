"""Faults of further kinds, planted after the others to see what a probe finds at first try."""

from __future__ import annotations

import base64
import difflib
import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import mcp_types as types

from tests.proofs.planted.calls import TOOLS, Call
from tests.proofs.planted.clinic import ROLES, Clinic
from tests.proofs.planted.data import Record
from tests.proofs.planted.door import Door

MEASURED_LIKE: Mapping[str, str] = {
    "suggestion": "arguments",
    "linked_record": "frames",
    "past_the_end": "arguments",
    "trailing_newline": "arguments",
    "null_byte": "arguments",
    "sort_unchecked": "arguments",
    "average_owed": "oracles",
    "diagnosis_counts": "encodings",
    "hashed_national_id": "encodings",
    "business_card": "frames",
    "decision_cached": "memory",
    "failing_row": "arguments",
    "empty_change": "writes",
    "tool_in_other_case": "arguments",
    "meta_debug": "smuggled",
    "negative_amount": "arguments",
    "operator_in_id": "arguments",
    "zero_width_role": "attributes",
    "role_by_number": "attributes",
    "forwarded_user": "tokens",
}
"""Fault → the group in whose way it is probed."""


class Suggestion(Clinic):
    """Who asks for an id that is not there is told the record whose id is nearest."""

    def failed(self, call: Call, why: str) -> types.CallToolResult:
        asked = str(call.args.get("patient_id", ""))
        near = difflib.get_close_matches(asked, self.data.patients, 1)
        if not near or near == [asked] or not self.role(call.who):
            return super().failed(call, why)
        record = self.data.patients[near[0]]
        return super().failed(call, f"{why}; did you mean {record['name']}, {record['email']}?")


class LinkedRecord(Clinic):
    """A result links to an address at which the whole record is there for everybody."""

    def told(self, call: Call, shown: dict[str, Any]) -> types.CallToolResult:
        told: types.CallToolResult = super().told(call, shown)
        if call.tool == "get_patient":
            told.content.append(
                types.ResourceLink(
                    name="as stored", uri=f"clinic://stored/{self._key(shown['patient_id'])}"
                )
            )
        return told

    def read(self, uri: str, call: Call) -> str:
        for patient_id, record in self.data.patients.items():
            if uri.endswith(self._key(patient_id)):
                return json.dumps(dict(record))
        return super().read(uri, call)

    def _key(self, patient_id: str) -> str:
        return hashlib.sha256(patient_id.encode()).hexdigest()[:16]


class PastTheEnd(Clinic):
    """A cursor past the last page begins anew, without the filter."""

    def page(self, call: Call, records: list[Record], see: Any) -> dict[str, Any]:
        cursor = str(call.args.get("cursor", "0"))
        if cursor.isdecimal() and int(cursor) > len(records):
            return {"total": len(records), "patients": [dict(record) for record in records]}
        return super().page(call, records, see)


class _Ending(Clinic):
    """Checks an id as it is written, and looks it up up to its first sign of `ends`."""

    ends = "\n"

    def patient(self, call: Call) -> Record:
        wanted = str(call.args["patient_id"])
        record = self.data.patients.get(wanted.partition(self.ends)[0])
        return record if record and self.ends in wanted else super().patient(call)


class TrailingNewline(_Ending):
    """An id with a line break behind it is looked up without one, and not checked."""


class NullByte(_Ending):
    """An id is looked up to its first null byte, and not checked if it has one."""

    ends = "\0"


class SortUnchecked(Clinic):
    """Sorted by a field that the schema does not name, a list shows that field."""

    def check_arguments(self, call: Call) -> None:
        if call.args.get("sort") not in self.data.patients["P-1001"]:
            super().check_arguments(call)

    def fields(self, kind: str, record: Record, call: Call) -> dict[str, Any]:
        key = str(call.args.get("sort"))
        shown = super().fields(kind, record, call)
        declared = TOOLS["find_patients"].input_schema["properties"]["sort"]["enum"]
        return {**shown, key: record[key]} if key in record and key not in declared else shown


class AverageOwed(Clinic):
    """The report of a ward tells everybody what its patients owe on average."""

    def report(self, call: Call) -> dict[str, Any]:
        owed = [r["balance"] for r in self.data.patients.values() if r["ward"] == call.args["ward"]]
        return {**super().report(call), "average": round(sum(owed) / len(owed), 2) if owed else 0}


class DiagnosisCounts(Clinic):
    """The report of a ward counts its diagnoses for everybody, also those of one patient only."""

    def report(self, call: Call) -> dict[str, Any]:
        of_ward = (r for r in self.data.patients.values() if r["ward"] == call.args["ward"])
        return {**super().report(call), "diagnoses": Counter(r["diagnosis"] for r in of_ward)}


class HashedNationalId(Clinic):
    """A record is told apart by the hash of the number that is masked; all hashes can be tried."""

    def fields(self, kind: str, record: Record, call: Call) -> dict[str, Any]:
        shown = super().fields(kind, record, call)
        if kind != "patient":
            return shown
        return {**shown, "etag": hashlib.sha256(record["national_id"].encode()).hexdigest()}


class BusinessCard(Clinic):
    """A result has a card for the address book as a file, with what the record leaves out."""

    def told(self, call: Call, shown: dict[str, Any]) -> types.CallToolResult:
        told: types.CallToolResult = super().told(call, shown)
        if call.tool == "get_patient":
            record = self.data.patients[shown["patient_id"]]
            card = f"BEGIN:VCARD\nFN:{record['name']}\nEMAIL:{record['email']}\n"
            card += f"TEL:{record['phone']}\nEND:VCARD\n"
            blob = base64.b64encode(card.encode()).decode()
            file = types.BlobResourceContents(uri="clinic://card.vcf", blob=blob)
            told.content.append(types.EmbeddedResource(resource=file))
        return told


class DecisionCached(Clinic):
    """Whether a patient may be seen is decided for the first who asks, and then for everybody."""

    def __init__(self, seed: int = 1) -> None:
        super().__init__(seed)
        self._decided: dict[str, bool] = {}

    def may_see(self, record: Record, call: Call) -> bool:
        return self._decided.setdefault(record["patient_id"], super().may_see(record, call))


class FailingRow(Clinic):
    """What is said of arguments that do not fit quotes the row that they are for."""

    def failed(self, call: Call, why: str) -> types.CallToolResult:
        record = self.data.patients.get(str(call.args.get("patient_id")))
        if record and why.startswith("Invalid arguments") and self.role(call.who):
            why += f". Failing row contains ({', '.join(map(str, record.values()))})."
        return super().failed(call, why)


class EmptyChange(Clinic):
    """A change of nothing is allowed to everybody, and shows what is stored."""

    def check(self, call: Call) -> None:
        if call.tool != "update_patient" or call.args.get("changes"):
            super().check(call)

    def change(self, call: Call, see: Any) -> dict[str, Any]:
        if call.tool == "update_patient" and not call.args["changes"]:
            return dict(self.data.patients[call.args["patient_id"]])
        return super().change(call, see)


class ToolInOtherCase(Clinic):
    """The policy knows tools as they are written, and the table of tools in any case."""

    def answer(self, call: Call) -> types.CallToolResult:
        known = call.tool.lower()
        if known == call.tool or known not in TOOLS:
            return super().answer(call)
        call.tool = known
        return self.told(call, self.truth(call))


class MetaDebug(Clinic):
    """A key `debug` in `_meta` of the request switches the filter off."""

    def fields(self, kind: str, record: Record, call: Call) -> dict[str, Any]:
        return dict(record) if call.meta.get("debug") else super().fields(kind, record, call)


class NegativeAmount(Clinic):
    """With a negative least amount whose patient an invoice is of is not asked."""

    def may_see(self, record: Record, call: Call) -> bool:
        wanted = call.args.get("filter") or {}
        return wanted.get("min_amount", 0) < 0 or super().may_see(record, call)


class OperatorInId(Clinic):
    """An object in place of an id is a condition of the database: `{"$ne": ""}` finds somebody."""

    def check_arguments(self, call: Call) -> None:
        if not isinstance(call.args.get("patient_id"), dict):
            super().check_arguments(call)

    def patient(self, call: Call) -> Record:
        asked = call.args["patient_id"]
        if isinstance(asked, dict) and any(str(key).startswith("$") for key in asked):
            return self.data.patients["P-1005"]
        return super().patient(call)


class ZeroWidthRole(Clinic):
    """A role counts though characters stand in it that take no room."""

    def role(self, who: Mapping[str, Any]) -> str | None:
        plain = str(who.get("role")).translate(dict.fromkeys((0x200B, 0x200C, 0x200D, 0xFEFF)))
        return plain if plain in ROLES else None


class RoleByNumber(Clinic):
    """A role may be the number of its row in the table of roles."""

    def role(self, who: Mapping[str, Any]) -> str | None:
        given = str(who.get("role"))
        if given.isdecimal():
            return ROLES[int(given)] if int(given) < len(ROLES) else None
        return super().role(who)


class ForwardedUser(Door):
    """Headers of a proxy say who asks, and anybody can send them."""

    def admit(self, headers: Mapping[str, str], session: str, query: str) -> Mapping[str, Any]:
        role = headers.get("x-forwarded-role") or headers.get("x-user-role")
        who = super().admit(headers, session, query)
        return {**who, "role": role} if role else who
