"""The clinic as it should be: who asks, what they may do, and what they are told.

Each method is one decision; a fault replaces one of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import mcp_types as types
from jsonschema import Draft202012Validator

from tests.proofs.planted.calls import TOOLS, USER_KEY, Call, Mistake, Refusal
from tests.proofs.planted.data import WARDS, Data, Record, make

See: TypeAlias = Callable[[str, Record], dict[str, Any]]
"""What of a record is seen, by its kind."""

ROLES = ("director", "doctor", "clerk")
"""Every role that may do anything."""
_HIDDEN = {"export_records": ("director",), "delete_patient": ("director",)}
_FORBIDDEN = {
    "list_invoices": ("doctor",),
    "refund_invoice": ("doctor", "clerk"),
    "update_patient": ("doctor",),
}
_WITHHELD = {
    "doctor": frozenset({"card", "balance", "phone"}),
    "clerk": frozenset({"email", "national_id", "diagnosis", "notes", "balance"}),
}
_CHANGEABLE = frozenset({"phone", "email"})


class Clinic:
    """Decides by the caller's attributes: ``role``, ``ward`` and ``staff_id``."""

    def __init__(self, seed: int = 1) -> None:
        self.data: Data = make(seed)

    # ── who ──────────────────────────────────────────────────────────────────────────────────

    def identify(self, call: Call) -> Mapping[str, Any]:
        """Return the caller's attributes: of the verified token, else of `_meta`."""
        told = call.meta.get(USER_KEY) if call.claims is None else call.claims
        return told if isinstance(told, Mapping) else {}

    def role(self, who: Mapping[str, Any]) -> str | None:
        """Return the caller's role, if it is one that may do anything."""
        role = who.get("role")
        return role if isinstance(role, str) and role in ROLES else None

    def ward(self, who: Mapping[str, Any]) -> str | None:
        """Return the caller's ward."""
        ward = who.get("ward")
        return ward if isinstance(ward, str) and ward in WARDS else None

    def is_self(self, who: Mapping[str, Any], staff_id: str) -> bool:
        """Return whether the employee is the caller."""
        own = who.get("staff_id")
        return isinstance(own, str) and own == staff_id

    # ── whether ──────────────────────────────────────────────────────────────────────────────

    def lists(self, tool: str, who: Mapping[str, Any]) -> bool:
        """Return whether the tool exists for the caller."""
        return tool not in _HIDDEN or self.role(who) in _HIDDEN[tool]

    def tools(self, who: Mapping[str, Any]) -> list[types.Tool]:
        """Return the tools that the caller is shown."""
        return [tool for name, tool in TOOLS.items() if self.lists(name, who)]

    def check_arguments(self, call: Call) -> None:
        """Refuse arguments that the tool does not declare.

        Raises:
            Mistake: they do not fit.
        """
        for error in Draft202012Validator(TOOLS[call.tool].input_schema).iter_errors(call.args):
            where = ".".join(map(str, error.path)) or "the arguments"
            raise Mistake(f"Invalid arguments: {where} must fit {error.validator}")

    def check(self, call: Call) -> None:
        """Let a call pass that the caller may make.

        Raises:
            Refusal: the policy forbids it.
            Mistake: the tool does not exist for the caller.
        """
        if call.tool not in TOOLS or not self.lists(call.tool, call.who):
            raise Mistake(f"Unknown tool: {call.tool}")
        role = self.role(call.who)
        if call.tool == "whoami":
            return
        if role is None:
            raise Refusal("Access denied: for employees with a role only")
        if role in _FORBIDDEN.get(call.tool, ()):
            raise Refusal(f"Access denied: {call.tool} is not for a {role}")

    def may_see(self, record: Record, call: Call) -> bool:
        """Return whether this patient exists for the caller."""
        role = self.role(call.who)
        if role == "director":
            return True
        if role == "doctor" and record["ward"] != self.ward(call.who):
            return False
        return not record["protected"]

    # ── what ─────────────────────────────────────────────────────────────────────────────────

    def patient(self, call: Call) -> Record:
        """Return the patient that is asked for.

        Raises:
            Mistake: there is none, or none for this caller: both in the same words.
        """
        record = self.data.patients.get(str(call.args["patient_id"]))
        if record is None or not self.may_see(record, call):
            raise Mistake("Patient not found, or not one of yours")
        return record

    def fields(self, kind: str, record: Record, call: Call) -> dict[str, Any]:
        """Return the fields of a record that the caller may see."""
        role = self.role(call.who)
        if role == "director":
            return dict(record)
        if kind == "staff":
            private = (
                () if self.is_self(call.who, record["staff_id"]) else ("salary", "iban", "home")
            )
            return {name: value for name, value in record.items() if name not in private}
        if kind != "patient" or role is None:
            return dict(record)
        shown = {name: value for name, value in record.items() if name not in _WITHHELD[role]}
        for name in ("card", "national_id"):
            if name in shown:
                shown[name] = self.mask(name, shown[name])
        return shown

    def mask(self, name: str, value: str) -> str:
        """Return what stands in the place of a value that is masked."""
        return f"**** **** **** {value[-4:]}" if name == "card" else "***"

    def matching(self, call: Call) -> Iterator[Record]:
        """Yield the patients that a search asks for and that exist for the caller."""
        args = call.args
        for record in self.data.patients.values():
            if not self.may_see(record, call):
                continue
            if record["discharged"] and not args.get("include_discharged"):
                continue
            if "ward" in args and record["ward"] != args["ward"]:
                continue
            if args.get("name", "").lower() not in record["name"].lower():
                continue
            if "email" in args and (
                "email" not in self.fields("patient", record, call)
                or args["email"].lower() not in record["email"]
            ):
                continue
            yield record

    def ordered(self, call: Call, records: list[Record]) -> list[Record]:
        """Return the records in the order asked for; by a field that is withheld, in none."""
        key = call.args.get("sort", "patient_id")
        if any(key not in self.fields("patient", record, call) for record in records):
            key = "patient_id"
        return sorted(records, key=lambda record: record[key])

    def page(self, call: Call, records: list[Record], see: See) -> dict[str, Any]:
        """Return one page of patients."""
        cursor = str(call.args.get("cursor", "0"))
        first = int(cursor) if cursor.isdecimal() else 0
        last = first + call.args.get("limit", 20)
        shown: dict[str, Any] = {
            "total": len(records),
            "patients": [see("patient", record) for record in records[first:last]],
        }
        if last < len(records):
            shown["next_cursor"] = str(last)
        return shown

    def invoices(self, call: Call) -> list[Record]:
        """Return the invoices asked for, of patients that exist for the caller."""
        asked, wanted = call.args.get("patient_id"), call.args.get("filter", {})
        return [
            invoice
            for invoice in self.data.invoices.values()
            if self.may_see(self.data.patients[invoice["patient_id"]], call)
            and asked in (None, invoice["patient_id"])
            and wanted.get("status") in (None, invoice["status"])
            and invoice["amount"] >= wanted.get("min_amount", 0)
        ]

    def report(self, call: Call) -> dict[str, Any]:
        """Return figures of a ward: of the patients that exist for the caller, money to few."""
        records = [
            record
            for record in self.data.patients.values()
            if record["ward"] == call.args["ward"] and self.may_see(record, call)
        ]
        figures: dict[str, Any] = {"ward": call.args["ward"], "patients": len(records)}
        if self.role(call.who) == "director":
            figures["owed"] = round(sum(record["balance"] for record in records), 2)
        return figures

    def result(self, call: Call, see: See) -> dict[str, Any]:  # noqa: PLR0911  # one for each tool
        """Return the result of a call, of each record what ``see`` shows."""
        match call.tool:
            case "whoami":
                return {"role": self.role(call.who), "ward": self.ward(call.who)}
            case "get_patient":
                return see("patient", self.patient(call))
            case "find_patients":
                return self.page(call, self.ordered(call, list(self.matching(call))), see)
            case "get_staff":
                if call.args["staff_id"] not in self.data.staff:
                    raise Mistake("Employee not found")
                return see("staff", self.data.staff[call.args["staff_id"]])
            case "list_invoices":
                found = self.invoices(call)
                return {
                    "count": len(found),
                    "sum": round(sum(invoice["amount"] for invoice in found), 2),
                    "invoices": [see("invoice", invoice) for invoice in found],
                }
            case "ward_report":
                return self.report(call)
            case "export_records":
                records = self.data.patients.values()
                return {
                    "records": [
                        see("patient", record)
                        for record in records
                        if record["ward"] == call.args["ward"]
                    ]
                }
        return self.change(call, see)

    def change(self, call: Call, see: See) -> dict[str, Any]:
        """Make a change, in memory only, and return what was changed."""
        match call.tool:
            case "refund_invoice":
                if call.args["invoice_id"] not in self.data.invoices:
                    raise Mistake("Invoice not found")
                return {"refunded": call.args["invoice_id"]}
            case "update_patient":
                self.check_changes(call)
                record = self.patient(call)
                return {"patient_id": record["patient_id"], "changed": sorted(call.args["changes"])}
        return {"deleted": self.patient(call)["patient_id"]}

    def check_changes(self, call: Call) -> None:
        """Let pass what may be changed.

        Raises:
            Refusal: a field may not.
        """
        if not call.args["changes"].keys() <= _CHANGEABLE:
            raise Refusal("Access denied: only phone and email can be changed")

    # ── what is told ─────────────────────────────────────────────────────────────────────────

    def answer(self, call: Call) -> types.CallToolResult:
        """Return the answer to a call: a result, a refusal or a mistake."""
        try:
            call.who = self.identify(call)
            self.check(call)
            self.check_arguments(call)
            shown = self.result(call, lambda kind, record: self.fields(kind, record, call))
            return self.told(call, shown)
        except Refusal as refusal:
            return self.refused(call, str(refusal))
        except Mistake as mistake:
            return self.failed(call, str(mistake))

    async def answer_later(self, call: Call) -> types.CallToolResult:
        """Return the answer to a call, where it may take a while."""
        return self.answer(call)

    def truth(self, call: Call) -> dict[str, Any]:
        """Return the result with every field of every record, for faults that give it away."""
        try:
            return self.result(call, lambda _, record: dict(record))
        except (Mistake, Refusal, KeyError):
            return {}

    def withheld(self, call: Call) -> dict[str, Any]:
        """Return what the record in question holds and the caller may not see, by field."""
        kinds = {"get_patient": "patient", "get_staff": "staff"}
        if call.tool not in kinds:
            return {}
        truth = self.truth(call)
        shown = self.fields(kinds[call.tool], truth, call) if truth else {}
        return {name: value for name, value in truth.items() if shown.get(name) != value}

    def told(self, call: Call, shown: dict[str, Any]) -> types.CallToolResult:
        """Return a result, as text and as structure."""
        return types.CallToolResult(content=[text(shown)], structured_content=shown)

    def refused(self, call: Call, why: str) -> types.CallToolResult:
        """Return a refusal."""
        return types.CallToolResult(content=[types.TextContent(text=why)], is_error=True)

    def failed(self, call: Call, why: str) -> types.CallToolResult:
        """Return what is said of a call that cannot be made."""
        return types.CallToolResult(content=[types.TextContent(text=why)], is_error=True)

    def messages(self, call: Call) -> list[tuple[str, str]]:
        """Return what is said while a call is under way: (``log`` or ``progress``, text)."""
        return [("log", f"{call.tool} was called")]

    def stderr(self, call: Call) -> str:
        """Return what the operator reads of a call."""
        return f"{call.tool}\n"

    # ── beside the tools ─────────────────────────────────────────────────────────────────────

    def instructions(self) -> str:
        """Return what the server says of itself."""
        return "Patients and employees of a clinic. What you can see depends on who asks."

    def resources(self, call: Call) -> list[types.Resource]:
        """Return the resources that the caller is shown: a record of each of their patients."""
        handbook = types.Resource(name="handbook", uri="clinic://handbook")
        if self.role(call.who) is None:
            return [handbook]
        return [handbook] + [
            types.Resource(name=patient_id, uri=f"clinic://patients/{patient_id}")
            for patient_id, record in self.data.patients.items()
            if self.may_see(record, call)
        ]

    def read(self, uri: str, call: Call) -> str:
        """Return the text of a resource.

        Raises:
            Refusal, Mistake: as for the record itself.
        """
        if uri == "clinic://handbook":
            return "Wash your hands."
        call.tool, call.args = "get_patient", {"patient_id": uri.rpartition("/")[2]}
        self.check(call)
        return json.dumps(self.fields("patient", self.patient(call), call))

    def prompts(self, call: Call) -> list[types.Prompt]:
        """Return the prompts."""
        return [types.Prompt(name="handover", description="What the next shift has to know.")]

    def prompt(self, name: str, call: Call) -> str:
        """Return the text of a prompt."""
        return "Summarise the patients of the caller's ward for the next shift."

    def completions(self, given: str, call: Call) -> list[str]:
        """Return ids that complete what was given."""
        return [
            patient_id
            for patient_id, record in self.data.patients.items()
            if patient_id.startswith(given) and self.role(call.who) and self.may_see(record, call)
        ]


def text(value: Any) -> types.TextContent:
    """Return a block that holds ``value`` as JSON."""
    return types.TextContent(text=json.dumps(value, ensure_ascii=False))
