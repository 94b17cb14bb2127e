"""What is withheld can be concluded: from order, counts, totals, or whether something exists."""

from __future__ import annotations

from typing import Any

import mcp_types as types

from tests.proofs.planted.calls import Call, Mistake, Refusal
from tests.proofs.planted.clinic import Clinic
from tests.proofs.planted.data import Record


class OrderByHidden(Clinic):
    """Lists can be sorted by a field that the caller does not see."""

    def ordered(self, call: Call, records: list[Record]) -> list[Record]:
        return sorted(records, key=lambda record: record[call.args.get("sort", "patient_id")])


class OrderAlways(Clinic):
    """Lists are always sorted by what patients owe."""

    def ordered(self, call: Call, records: list[Record]) -> list[Record]:
        return sorted(records, key=lambda record: record["balance"])


class TotalOfAll(Clinic):
    """The total of a list counts patients who do not exist for the caller."""

    def page(self, call: Call, records: Any, see: Any) -> dict[str, Any]:
        return {**super().page(call, records, see), "total": len(self.data.patients)}


class ReportOfAll(Clinic):
    """The report of a ward counts protected patients for everybody."""

    def report(self, call: Call) -> dict[str, Any]:
        records = [r for r in self.data.patients.values() if r["ward"] == call.args["ward"]]
        return {**super().report(call), "patients": len(records)}


class SumOfAll(Clinic):
    """The sum of a list of invoices includes those that are left out."""

    def result(self, call: Call, see: Any) -> dict[str, Any]:
        shown = super().result(call, see)
        if call.tool == "list_invoices":
            shown["sum"] = round(sum(i["amount"] for i in self.data.invoices.values()), 2)
        return shown


class AverageBalance(Clinic):
    """The report of a ward has the average balance, for everybody."""

    def report(self, call: Call) -> dict[str, Any]:
        owed = [r["balance"] for r in self.data.patients.values() if r["ward"] == call.args["ward"]]
        return {**super().report(call), "average": round(sum(owed) / max(len(owed), 1), 2)}


class Rank(Clinic):
    """A record has the rank of its patient among debtors."""

    def fields(self, kind: str, record: Record, call: Call) -> dict[str, Any]:
        shown = super().fields(kind, record, call)
        if kind == "patient":
            owed = sorted(r["balance"] for r in self.data.patients.values())
            shown["rank"] = owed.index(record["balance"]) + 1
        return shown


class Bracket(Clinic):
    """A record says whether its patient owes more than 400,000."""

    def fields(self, kind: str, record: Record, call: Call) -> dict[str, Any]:
        shown = super().fields(kind, record, call)
        return {**shown, "large": record["balance"] > 400_000} if kind == "patient" else shown


class Rounded(Clinic):
    """A record has its balance rounded to thousands, for everybody."""

    def fields(self, kind: str, record: Record, call: Call) -> dict[str, Any]:
        shown = super().fields(kind, record, call)
        return (
            {"balance_about": round(record["balance"], -3), **shown} if kind == "patient" else shown
        )


class LengthOfNotes(Clinic):
    """A record says how long the notes are, and how long the diagnosis."""

    def fields(self, kind: str, record: Record, call: Call) -> dict[str, Any]:
        shown = super().fields(kind, record, call)
        if kind == "patient":
            shown["lengths"] = [len(record["notes"]), len(record["diagnosis"])]
        return shown


class Existence(Clinic):
    """A record that one may not see is refused, and one that does not exist is not found."""

    def patient(self, call: Call) -> Record:
        record = self.data.patients.get(str(call.args["patient_id"]))
        if record is None:
            raise Mistake("Patient not found")
        if not self.may_see(record, call):
            raise Refusal("Access denied: this patient is under special protection")
        return record


class SearchByHidden(Clinic):
    """Patients can be found by an email address that the caller does not see."""

    def matching(self, call: Call) -> Any:
        wanted = call.args.get("email")
        call_without = Call(call.tool, {k: v for k, v in call.args.items() if k != "email"})
        call_without.who = call.who
        for record in super().matching(call_without):
            if wanted is None or wanted.lower() in record["email"]:
                yield record


class CursorOfAll(Clinic):
    """The cursor of a list is the place among all patients, not among those shown."""

    def page(self, call: Call, records: Any, see: Any) -> dict[str, Any]:
        shown = super().page(call, records, see)
        if records:
            everybody = list(self.data.patients)
            shown["next_cursor"] = str(everybody.index(records[-1]["patient_id"]) + 1)
        return shown


class EmptyRows(Clinic):
    """Patients who do not exist for the caller leave an empty row in lists."""

    def page(self, call: Call, records: Any, see: Any) -> dict[str, Any]:
        shown = super().page(call, records, see)
        shown["patients"] += [{}] * (len(self.data.patients) - len(records))
        return shown


class HasMore(Clinic):
    """A list says that there are more patients where the rest must not be known."""

    def page(self, call: Call, records: Any, see: Any) -> dict[str, Any]:
        shown = super().page(call, records, see)
        return {**shown, "hidden": len(self.data.patients) - len(records)}


class Checksum(Clinic):
    """A record has a checksum over all of its fields."""

    def fields(self, kind: str, record: Record, call: Call) -> dict[str, Any]:
        shown = super().fields(kind, record, call)
        if kind == "patient":
            shown["etag"] = f"{sum(map(ord, str(dict(record)))) % 65_521:04x}"
        return shown


class RefusalNamesWard(Clinic):
    """The refusal of a record says in which ward it is, and that it is protected."""

    def failed(self, call: Call, why: str) -> types.CallToolResult:
        record = self.data.patients.get(str(call.args.get("patient_id")))
        return super().failed(call, f"{why}: ward {record['ward']}" if record else why)
