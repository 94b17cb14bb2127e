"""A withheld value stands under another name, or within another value."""

from __future__ import annotations

from typing import Any

from tests.proofs.planted.calls import Call
from tests.proofs.planted.clinic import Clinic


class _Added(Clinic):
    """Adds fields to each patient's record, for everybody."""

    def fields(self, kind: str, record: Any, call: Call) -> dict[str, Any]:
        shown = super().fields(kind, record, call)
        return shown | self.added(dict(record)) if kind == "patient" else shown

    def added(self, lost: dict[str, Any]) -> dict[str, Any]:
        """Return what is added, of what is withheld."""
        raise NotImplementedError


class Login(_Added):
    """The email address is the login as well."""

    def added(self, lost: dict[str, Any]) -> dict[str, Any]:
        return {"login": lost.get("email")}


class MailLink(_Added):
    """The email address stands in a link to write to."""

    def added(self, lost: dict[str, Any]) -> dict[str, Any]:
        return {"contact_url": f"mailto:{lost['email']}?subject=Visit"} if "email" in lost else {}


class Sentence(_Added):
    """The email address or card stands in the middle of a sentence."""

    def added(self, lost: dict[str, Any]) -> dict[str, Any]:
        value = lost.get("email") or lost.get("card")
        return {"remark": f"Registered by {value} at the desk."} if value else {}


class PaymentReference(_Added):
    """The card number, without blanks, is the payment reference."""

    def added(self, lost: dict[str, Any]) -> dict[str, Any]:
        return {"payment_ref": lost["card"].replace(" ", "")} if "card" in lost else {}


class PaymentNumber(_Added):
    """The card number is a number, no text."""

    def added(self, lost: dict[str, Any]) -> dict[str, Any]:
        return {"payer": int(lost["card"].replace(" ", ""))} if "card" in lost else {}


class PatientNumber(_Added):
    """The national id is the number of the file."""

    def added(self, lost: dict[str, Any]) -> dict[str, Any]:
        return {"file_number": lost.get("national_id")}


class Summary(_Added):
    """The notes are the summary."""

    def added(self, lost: dict[str, Any]) -> dict[str, Any]:
        return {"summary": lost.get("notes")}


class SummaryShortened(_Added):
    """The summary is the beginning of the notes."""

    def added(self, lost: dict[str, Any]) -> dict[str, Any]:
        return {"summary": lost["notes"][:48] + " …"} if "notes" in lost else {}


class Reason(_Added):
    """The diagnosis is the reason of the stay."""

    def added(self, lost: dict[str, Any]) -> dict[str, Any]:
        return {"reason": lost.get("diagnosis")}


class Owes(_Added):
    """The balance is what the patient owes, under another name."""

    def added(self, lost: dict[str, Any]) -> dict[str, Any]:
        return {"owes": lost.get("balance")}


class Raw(_Added):
    """The record as it was read is kept as text in a field of its own."""

    def added(self, lost: dict[str, Any]) -> dict[str, Any]:
        return {"_raw": str(lost)} if lost else {}


class OldField(_Added):
    """A field of an older version of the record is still sent, nested."""

    def added(self, lost: dict[str, Any]) -> dict[str, Any]:
        return {"v1": {"person": {"mail": lost.get("email"), "diag": lost.get("diagnosis")}}}


class Renamed(_Added):
    """The field is sent under its name in another style of writing."""

    def added(self, lost: dict[str, Any]) -> dict[str, Any]:
        return {"eMail": lost.get("email"), "nationalId": lost.get("national_id"),
                "cardNumber": lost.get("card")}  # fmt: skip


class Search(_Added):
    """A field for searching holds everything in lower case without blanks."""

    def added(self, lost: dict[str, Any]) -> dict[str, Any]:
        joined = "|".join(str(value).lower().replace(" ", "") for value in lost.values())
        return {"search_key": joined} if lost else {}


class KeyedPairs(_Added):
    """Fields stand once more as pairs of name and value."""

    def added(self, lost: dict[str, Any]) -> dict[str, Any]:
        return {"attributes": [{"name": name, "value": value} for name, value in lost.items()]}


class Columns(Clinic):
    """Lists are told as columns and rows as well, with all columns."""

    def page(self, call: Call, records: Any, see: Any) -> dict[str, Any]:
        shown = super().page(call, records, see)
        if records:
            shown["columns"] = list(records[0])
            shown["rows"] = [list(record.values()) for record in records]
        return shown


class InvoiceReference(Clinic):
    """The reference of an invoice holds the patient's card number."""

    def fields(self, kind: str, record: Any, call: Call) -> dict[str, Any]:
        shown = super().fields(kind, record, call)
        if kind == "invoice":
            card = self.data.patients[record["patient_id"]]["card"].replace(" ", "")
            shown["reference"] = f"{record['reference']}-{card}"
        return shown


class OtherTool(Clinic):
    """The report of a ward lists patients and diagnoses."""

    def report(self, call: Call) -> dict[str, Any]:
        records = [r for r in self.data.patients.values() if r["ward"] == call.args["ward"]]
        cases = [{"name": r["name"], "diagnosis": r["diagnosis"]} for r in records]
        return {**super().report(call), "cases": cases}


class WhoAmI(Clinic):
    """`whoami` tells the secrets of the first employee to everybody."""

    def result(self, call: Call, see: Any) -> dict[str, Any]:
        shown = super().result(call, see)
        return (
            {**shown, "backup": dict(self.data.staff["S-01"])} if call.tool == "whoami" else shown
        )


class Deputy(Clinic):
    """Each employee's record embeds their superior's, with salary."""

    def fields(self, kind: str, record: Any, call: Call) -> dict[str, Any]:
        shown = super().fields(kind, record, call)
        if kind == "staff" and record["staff_id"] != "S-01":
            shown["superior"] = dict(self.data.staff["S-01"])
        return shown
