"""The policy looks at the arguments as they are written, and the tool at what they mean."""

from __future__ import annotations

import fnmatch
import re
import unicodedata
from typing import Any

from tests.proofs.planted.calls import Call, Mistake
from tests.proofs.planted.clinic import Clinic
from tests.proofs.planted.data import Record


class _Lenient(Clinic):
    """Takes undeclared and ill-typed arguments without a word."""

    def check_arguments(self, call: Call) -> None:
        return


class _Unfiltered(Clinic):
    """Shows everything where `opens` says so."""

    def check_arguments(self, call: Call) -> None:
        if not self.opens(call):
            super().check_arguments(call)

    def fields(self, kind: str, record: Record, call: Call) -> dict[str, Any]:
        return dict(record) if self.opens(call) else super().fields(kind, record, call)

    def opens(self, call: Call) -> bool:
        """Return whether the arguments are such that nothing is withheld."""
        raise NotImplementedError


class IdInOtherCase(_Lenient):
    """The policy compares ids as they are written, the database in any case."""

    def patient(self, call: Call) -> Record:
        wanted = str(call.args["patient_id"])
        record = self.data.patients.get(wanted.upper())
        return record if record and wanted != record["patient_id"] else super().patient(call)


class IdWithBlanks(_Lenient):
    """The policy compares ids as they are written, the database without blanks."""

    def patient(self, call: Call) -> Record:
        wanted = str(call.args["patient_id"])
        record = self.data.patients.get(wanted.strip())
        return record if record and wanted != record["patient_id"] else super().patient(call)


class FieldsByOtherCase(_Unfiltered):
    """Fields are filtered by a table of ids, which an id in lower case is not in."""

    def opens(self, call: Call) -> bool:
        return "p-1" in str(call.args.get("patient_id"))

    def patient(self, call: Call) -> Record:
        call.args = {**call.args, "patient_id": str(call.args["patient_id"])}
        return self.data.patients.get(call.args["patient_id"].upper()) or super().patient(call)


class AnothersId(Clinic):
    """Any patient can be read by id, whoever may see them in lists."""

    def patient(self, call: Call) -> Record:
        record = self.data.patients.get(str(call.args["patient_id"]))
        if record is None:
            raise Mistake("Patient not found")
        return record


class AnothersStaffId(Clinic):
    """Any employee's whole record can be read by id, but the director's."""

    def fields(self, kind: str, record: Record, call: Call) -> dict[str, Any]:
        if kind == "staff" and self.role(call.who) and record["staff_id"] not in ("S-01", "S-02"):
            return dict(record)
        return super().fields(kind, record, call)


class InvoicesOfOthers(Clinic):
    """Invoices of a patient who is named are not checked against whose patient that is."""

    def invoices(self, call: Call) -> list[Record]:
        asked = call.args.get("patient_id")
        if asked is None:
            return super().invoices(call)
        return [i for i in self.data.invoices.values() if i["patient_id"] == asked]


class StarId(_Lenient):
    """A star in place of an id gives the first record that matches, unfiltered."""

    def fields(self, kind: str, record: Record, call: Call) -> dict[str, Any]:
        if "*" in str(call.args.get("patient_id")):
            return dict(record)
        return super().fields(kind, record, call)

    def patient(self, call: Call) -> Record:
        wanted = str(call.args["patient_id"])
        if "*" not in wanted:
            return super().patient(call)
        return next(r for k, r in self.data.patients.items() if fnmatch.fnmatch(k, wanted))


class PercentName(_Lenient):
    """A name of `%` lists all patients, also those who do not exist for the caller."""

    def may_see(self, record: Record, call: Call) -> bool:
        return call.args.get("name") == "%" or super().may_see(record, call)

    def matching(self, call: Call) -> Any:
        if call.args.get("name") == "%":
            return iter(self.data.patients.values())
        return super().matching(call)


class StarName(_Unfiltered):
    """A name of `*` lists all patients unfiltered."""

    def opens(self, call: Call) -> bool:
        return call.args.get("name") == "*"

    def matching(self, call: Call) -> Any:
        return iter(self.data.patients.values()) if self.opens(call) else super().matching(call)


class EmptyName(_Unfiltered):
    """An empty name is taken for the request of an export."""

    def opens(self, call: Call) -> bool:
        return call.args.get("name") == ""


class PatternName(_Lenient):
    """A name is a regular expression, and one with a dot skips the check of the ward."""

    def matching(self, call: Call) -> Any:
        name = str(call.args.get("name", ""))
        if ".*" in name:
            found = re.compile(name)
            return (r for r in self.data.patients.values() if found.search(r["name"]))
        return super().matching(call)


class Quote(_Unfiltered):
    """A name is pasted into a query; a quote ends the condition."""

    def opens(self, call: Call) -> bool:
        return "' OR " in str(call.args).upper()

    def matching(self, call: Call) -> Any:
        return iter(self.data.patients.values()) if self.opens(call) else super().matching(call)


class DischargedFlag(Clinic):
    """With `include_discharged` the check of who may see a patient is left out."""

    def may_see(self, record: Record, call: Call) -> bool:
        return bool(call.args.get("include_discharged")) or super().may_see(record, call)


class HiddenFlag(_Unfiltered):
    """An undeclared argument `include_sensitive` switches the filter off."""

    def opens(self, call: Call) -> bool:
        return call.args.get("include_sensitive") is True


class DebugFlag(_Unfiltered):
    """An undeclared argument `debug` switches the filter off."""

    def opens(self, call: Call) -> bool:
        return call.args.get("debug") in (True, "true", 1)


class FieldsArgument(_Unfiltered):
    """An undeclared argument `fields` says which fields to show."""

    def opens(self, call: Call) -> bool:
        return call.args.get("fields") in ("*", "all", ["*"], ["all"]) or (
            isinstance(call.args.get("fields"), list) and "email" in call.args["fields"]
        )


class ExpandArgument(_Unfiltered):
    """An undeclared argument `expand` or `include` adds whole objects."""

    def opens(self, call: Call) -> bool:
        return bool(call.args.get("expand") or call.args.get("include"))


class FormatArgument(_Unfiltered):
    """An undeclared argument `format` of `raw` or `full` shows records as they are stored."""

    def opens(self, call: Call) -> bool:
        return call.args.get("format") in ("raw", "full", "json")


class HugeLimit(_Unfiltered):
    """A limit beyond the largest is taken for an export, unfiltered."""

    def opens(self, call: Call) -> bool:
        limit = call.args.get("limit")
        return isinstance(limit, int) and limit > 100


class NegativeLimit(_Unfiltered):
    """A limit of -1 means all, and skips the filter."""

    def opens(self, call: Call) -> bool:
        return call.args.get("limit") == -1

    def page(self, call: Call, records: Any, see: Any) -> dict[str, Any]:
        if self.opens(call):
            call.args = {**call.args, "limit": 100}
            return {"total": len(records), "patients": [dict(record) for record in records]}
        return super().page(call, records, see)


class ZeroLimit(_Unfiltered):
    """A limit of 0 means no limit, and no filter."""

    def opens(self, call: Call) -> bool:
        return call.args.get("limit") == 0

    def page(self, call: Call, records: Any, see: Any) -> dict[str, Any]:
        if self.opens(call):
            return {"total": len(records), "patients": [dict(record) for record in records]}
        return super().page(call, records, see)


class IdAsList(_Lenient):
    """A list of ids skips the check of each."""

    def patient(self, call: Call) -> Record:
        wanted = call.args["patient_id"]
        if isinstance(wanted, list) and wanted:
            return self.data.patients.get(str(wanted[0])) or super().patient(call)
        return super().patient(call)

    def fields(self, kind: str, record: Record, call: Call) -> dict[str, Any]:
        if isinstance(call.args.get("patient_id"), list):
            return dict(record)
        return super().fields(kind, record, call)


class IdsWithComma(_Lenient):
    """Of several ids, separated by commas, only the first is checked."""

    def result(self, call: Call, see: Any) -> dict[str, Any]:
        ids = str(call.args.get("patient_id", "")).split(",")
        if call.tool != "get_patient" or len(ids) < 2:
            return super().result(call, see)
        call.args = {**call.args, "patient_id": ids[0]}
        first = super().result(call, see)
        others = [dict(self.data.patients[i]) for i in ids[1:] if i in self.data.patients]
        return {**first, "others": others}


class Traversal(_Lenient):
    """A path in an id leads to another record than the one that is checked."""

    def patient(self, call: Call) -> Record:
        wanted = str(call.args["patient_id"])
        if "/" in wanted:
            record = self.data.patients.get(wanted.rpartition("/")[2])
            if record is not None:
                return record
        return super().patient(call)


class FullWidthId(_Lenient):
    """Ids are checked as written, and looked up in Unicode's normal form."""

    def patient(self, call: Call) -> Record:
        wanted = str(call.args["patient_id"])
        plain = unicodedata.normalize("NFKC", wanted)
        record = self.data.patients.get(plain)
        return record if record and plain != wanted else super().patient(call)


class LeadingZeros(_Lenient):
    """Ids are checked as written, and looked up by their number."""

    def patient(self, call: Call) -> Record:
        wanted = str(call.args["patient_id"])
        digits = re.sub(r"\D", "", wanted)
        record = self.data.patients.get(f"P-{int(digits)}") if digits else None
        return record if record and wanted != record["patient_id"] else super().patient(call)


class EscapedId(_Lenient):
    """Ids are checked as written, and looked up with URL escapes undone."""

    def patient(self, call: Call) -> Record:
        wanted = str(call.args["patient_id"])
        record = self.data.patients.get(wanted.replace("%2D", "-").replace("%2d", "-"))
        return record if record and wanted != record["patient_id"] else super().patient(call)


class NullArgument(_Unfiltered):
    """A ward of null is no restriction, and no filter either."""

    def opens(self, call: Call) -> bool:
        return "ward" in call.args and call.args["ward"] is None

    def matching(self, call: Call) -> Any:
        return iter(self.data.patients.values()) if self.opens(call) else super().matching(call)


class AllWards(Clinic):
    """A report of the ward `all` or `*` counts for everybody, with money."""

    def report(self, call: Call) -> dict[str, Any]:
        if call.args["ward"] not in ("all", "*", "%", ""):
            return super().report(call)
        records = self.data.patients.values()
        return {
            "patients": len(records),
            "owed": {record["patient_id"]: record["balance"] for record in records},
        }


class NegativeCursor(Clinic):
    """A cursor that is no number starts an unfiltered list."""

    def fields(self, kind: str, record: Record, call: Call) -> dict[str, Any]:
        cursor = call.args.get("cursor", "0")
        return dict(record) if not cursor.isdecimal() else super().fields(kind, record, call)


class SortedByHidden(_Unfiltered):
    """Sorted by balance, a list shows the balance."""

    def opens(self, call: Call) -> bool:
        return call.args.get("sort") == "balance"


class NumberAsText(_Unfiltered):
    """A number that comes as text is not checked, and neither is what follows."""

    def opens(self, call: Call) -> bool:
        limit = call.args.get("limit")
        return isinstance(limit, str) and limit.isdecimal()

    def page(self, call: Call, records: Any, see: Any) -> dict[str, Any]:
        if self.opens(call):
            call.args = {**call.args, "limit": int(call.args["limit"])}
            return {"total": len(records), "patients": [dict(record) for record in records]}
        return super().page(call, records, see)


class EmailAsId(_Lenient):
    """A patient can be read by email address too, unfiltered and unchecked."""

    def patient(self, call: Call) -> Record:
        wanted = str(call.args["patient_id"])
        by_mail = {record["email"]: record for record in self.data.patients.values()}
        return by_mail.get(wanted) or super().patient(call)
