"""Tools that change something, and identities that make no difference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mcp_types as types

from tests.proofs.planted.calls import Call, Refusal
from tests.proofs.planted.clinic import Clinic
from tests.proofs.planted.data import Record


class RefundByAll(Clinic):
    """Everybody with a role can refund invoices."""

    def check(self, call: Call) -> None:
        if call.tool != "refund_invoice" or self.role(call.who) is None:
            super().check(call)


class RefundByNobody(Clinic):
    """Whoever has no role can refund invoices, and a clerk cannot."""

    def check(self, call: Call) -> None:
        if call.tool != "refund_invoice" or self.role(call.who) is not None:
            super().check(call)


class DeleteWorks(Clinic):
    """Deleting a patient is hidden from all but directors, and works for all."""

    def check(self, call: Call) -> None:
        if call.tool != "delete_patient":
            super().check(call)


class UpdateByDoctor(Clinic):
    """Doctors can change records."""

    def check(self, call: Call) -> None:
        if call.tool != "update_patient" or self.role(call.who) != "doctor":
            super().check(call)


class MassAssignment(Clinic):
    """Any field of a record can be changed, also those that nobody may change."""

    def check_changes(self, call: Call) -> None:
        return


class UpdateTells(Clinic):
    """A change answers with the whole record."""

    def change(self, call: Call, see: Any) -> dict[str, Any]:
        changed = super().change(call, see)
        record = self.data.patients.get(str(call.args.get("patient_id")))
        return {**changed, "record": dict(record)} if record else changed


class RefundTells(Clinic):
    """A refused refund is carried out all the same, and its refusal says so."""

    def refused(self, call: Call, why: str) -> types.CallToolResult:
        if call.tool == "refund_invoice" and (truth := self.truth(call)):
            return self.told(call, {**truth, "warning": why})
        return super().refused(call, why)


class RefundMarkedAsReading(Clinic):
    """A tool that changes something is marked as read-only, and open to all with a role."""

    def tools(self, who: Mapping[str, Any]) -> list[types.Tool]:
        reads = types.ToolAnnotations(read_only_hint=True)
        return [
            tool.model_copy(update={"annotations": reads})
            if tool.name == "refund_invoice"
            else tool
            for tool in super().tools(who)
        ]

    def check(self, call: Call) -> None:
        if call.tool != "refund_invoice" or self.role(call.who) is None:
            super().check(call)


class EverybodyDirector(Clinic):
    """All callers are taken for directors."""

    def role(self, who: Mapping[str, Any]) -> str | None:
        return "director"


class NobodyClerk(Clinic):
    """Who comes without an identity is taken for a clerk."""

    def role(self, who: Mapping[str, Any]) -> str | None:
        return super().role(who) if who else "clerk"


class DoctorIsDirector(Clinic):
    """Doctors are taken for directors: both begin with the same letter."""

    def role(self, who: Mapping[str, Any]) -> str | None:
        role = super().role(who)
        return "director" if role == "doctor" else role


class RolesSwapped(Clinic):
    """Doctors and clerks are taken for one another."""

    def role(self, who: Mapping[str, Any]) -> str | None:
        role = super().role(who)
        return {"doctor": "clerk", "clerk": "doctor"}.get(str(role), role)


class StaffUnchecked(Clinic):
    """One tool forgets to ask who comes."""

    def check(self, call: Call) -> None:
        if call.tool != "get_staff":
            super().check(call)


class StaffUnfiltered(Clinic):
    """One tool forgets to filter: employees see each other's salaries."""

    def fields(self, kind: str, record: Record, call: Call) -> dict[str, Any]:
        if kind == "staff":
            return dict(record)
        return super().fields(kind, record, call)


class WardsIgnored(Clinic):
    """Doctors see the patients of all wards, in lists."""

    def may_see(self, record: Record, call: Call) -> bool:
        if self.role(call.who) == "doctor" and call.tool == "find_patients":
            return not record["protected"]
        return super().may_see(record, call)


class ProtectedInLists(Clinic):
    """Protected patients are in the lists of those who cannot read their records."""

    def may_see(self, record: Record, call: Call) -> bool:
        if call.tool == "find_patients" and record["protected"]:
            return super().may_see({**record, "protected": False}, call)
        return super().may_see(record, call)


class ProtectedInvoices(Clinic):
    """Invoices of protected patients are in everybody's list."""

    def invoices(self, call: Call) -> list[Record]:
        return [
            i for i in self.data.invoices.values()
            if call.args.get("patient_id") in (None, i["patient_id"])
        ]  # fmt: skip


class FailsOpen(Clinic):
    """Where the filter fails, the record is shown: it fails for each fifth patient."""

    def fields(self, kind: str, record: Record, call: Call) -> dict[str, Any]:
        if kind == "patient" and int(record["patient_id"][-1]) % 5 == 2:
            return dict(record)
        return super().fields(kind, record, call)


class OnlyShown(Clinic):
    """Tools are hidden from those who must not use them, and nothing else is checked."""

    def check(self, call: Call) -> None:
        if self.role(call.who) is None and call.tool != "whoami":
            raise Refusal("Access denied: for employees with a role only")

    def lists(self, tool: str, who: Mapping[str, Any]) -> bool:
        return super().lists(tool, who) and (self.role(who) is not None or tool == "whoami")
