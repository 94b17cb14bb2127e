"""Faults in what answers say."""

from __future__ import annotations

from typing import Any

from tests.proofs.unseen.chambers import Chambers
from tests.proofs.unseen.data import Row
from tests.proofs.unseen.faults.base import Step, fault
from tests.proofs.unseen.policy import Caller, Denied


@fault(
    "a second way to the data",
    Step("associate", "export_matters"),
    shows="{M-1005.title}",
)
class ExportAllTeams(Chambers):
    """The export forgets whose matters these are, and has those of all teams."""

    def export_matters(self, caller: Caller, status: str = "") -> str:
        """Export every matter of the status."""
        rows = [one for one in self.all_matters() if status in ("", one["status"])]
        return self.as_csv([self.shown(caller, one) for one in rows if not one["deleted"]])


@fault(
    "a second way to the data",
    Step("auditor", "audit_trail", {"matter_id": "M-1001"}),
    shows="{M-1001.settlement}",
)
class AuditTrailSnapshot(Chambers):
    """The audit trail keeps a snapshot of the whole matter beside each entry."""

    def audit_trail(self, caller: Caller, matter_id: str) -> Row:
        """Return entries with snapshots."""
        entries = super().audit_trail(caller, matter_id)["entries"]
        return {"entries": [{**one, "snapshot": self.find(matter_id)} for one in entries]}


@fault("resources", Step("client", "resource chambers://clients/CL-23"), shows="{CL-23.tax_number}")
class ClientSummaryOpen(Chambers):
    """The resource of a client asks only whether the caller is anybody at all."""

    def client_page(self, caller: Caller, client_id: str) -> Row:
        """Return any client."""
        found = self.records.first("SELECT * FROM clients WHERE id = ?", client_id)
        self.require(bool(caller.role) and found is not None)
        assert found is not None
        return found


@fault("prompts", Step("associate", "prompt M-1001"), shows="{M-1001.settlement}")
class PromptTellsSettlement(Chambers):
    """The prompt puts the whole matter into its text, whatever the caller sees of it."""

    def brief(self, caller: Caller, matter_id: str) -> str:
        """Return a prompt with every field."""
        return f"Summarise this matter in five sentences: {self.matter(caller, matter_id)}"


@fault(
    "optional parameters",
    Step("paralegal", "get_matter", {"matter_id": "M-1005", "with_client": True}),
    shows="{CL-22.tax_number}",
)
class WithClientUnfiltered(Chambers):
    """The client that comes with a matter is the whole record."""

    def get_matter(self, caller: Caller, matter_id: str, with_client: bool = False) -> Row:
        """Return a matter with the row of its client."""
        shown = super().get_matter(caller, matter_id)
        if with_client:
            client_id = self.matter(caller, matter_id)["client_id"]
            row = self.records.first("SELECT * FROM clients WHERE id = ?", client_id)
            shown["client"] = row
        return shown


@fault("deleted records", Step("associate", "get_matter", {"matter_id": "M-1009"}), shows="M-1009")
class DeletedById(Chambers):
    """Deleted matters are left out of lists only, and still come by their id."""

    def matter(self, caller: Caller, matter_id: str) -> Row:
        """Return a matter, deleted or not."""
        found = self.find(matter_id)
        self.require(found is not None and self.in_scope(caller, {**found, "deleted": 0}))
        assert found is not None
        return found


@fault(
    "answers of changes",
    Step("associate", "update_matter", {"matter_id": "M-1001", "status": "closed"}),
    shows="{M-1001.settlement}",
)
class UpdateReturnsRow(Chambers):
    """An update answers with the row as the database returns it."""

    def update_matter(self, caller: Caller, matter_id: str, status: str) -> Row:
        """Return the whole row."""
        super().update_matter(caller, matter_id, status)
        return self.matter(caller, matter_id)


@fault(
    "statistics",
    Step("auditor", "fee_statistics", {"status": "closed"}),
    shows="{M-1003.fee_budget}",
)
class GroupOfOne(Chambers):
    """Statistics are given for groups of any size, so that a group of one tells of a matter."""

    def smallest_group(self, status: str) -> int:
        """Return one."""
        return 1


@fault(
    "words of refusals",
    Step("client", "get_matter", {"matter_id": "M-1001"}),
    Step("client", "get_matter", {"matter_id": "M-9999"}),
    holds=lambda said: said[0] != said[1],
)
class DeniedOrMissing(Chambers):
    """A refusal says whether the matter exists."""

    def matter(self, caller: Caller, matter_id: str) -> Row:
        """Return a matter, or say which of the two is wrong."""
        found = self.find(matter_id)
        if found is None or found["deleted"]:
            raise Denied("Not found: there is no such matter")
        if not self.in_scope(caller, found):
            raise Denied("Access denied: this matter is not yours")
        return found


@fault(
    "words of refusals",
    Step("paralegal", "update_matter", {"matter_id": "M-1005", "status": "closed"}),
    shows="{M-1005.settlement}",
)
class RefusalQuotesRow(Chambers):
    """The refusal of an update quotes the matter's settlement to say why."""

    def update_matter(self, caller: Caller, matter_id: str, status: str) -> Row:
        """Update a matter, or say what stands in the way."""
        try:
            return super().update_matter(caller, matter_id, status)
        except Denied as denied:
            matter = self.matter(caller, matter_id)
            raise Denied(f"{denied}: it is to be settled at {matter['settlement']}") from denied


@fault(
    "masks",
    Step("paralegal", "list_clients"),
    holds=lambda said: "*" in said[0] and "***@" not in said[0],
)
class MaskOfOneLetter(Chambers):
    """The mask of an email hides one letter, and the rest can be guessed."""

    def masked_email(self, email: str) -> str:
        """Hide the second letter."""
        return f"{email[0]}*{email[2:]}"


@fault("beside results", Step("associate", "list_matters"), shows="{M-1001.settlement}")
class MetaHasRow(Chambers):
    """A list's ``_meta`` has the rows for the firm's own web page."""

    def beside(self, caller: Caller, tool: str, result: Any) -> dict[str, Any]:
        """Return the rows of a list."""
        return {"rows": self.scope(caller)} if tool == "list_matters" else {}


@fault("notifications", Step("client", "export_matters"), shows="{CL-24.email}")
class ProgressHasEmail(Chambers):
    """The progress of an export names the clients that are worked on, by email."""

    def said(self, caller: Caller, tool: str, args: Any) -> tuple[str, str]:
        """Return progress with emails."""
        if tool != "export_matters":
            return super().said(caller, tool, args)
        clients = self.records.rows("SELECT email FROM clients")
        return "", "exported " + ", ".join(client["email"] for client in clients)


@fault("masks", Step("paralegal", "get_client", {"client_id": "CL-22"}), shows="{CL-22.email}")
class StructuredUnmasked(Chambers):
    """Only the text of a client's record is masked, and the structured result is not."""

    def get_client(self, caller: Caller, client_id: str) -> Row:
        """Return the client with a plain email."""
        shown = super().get_client(caller, client_id)
        row = self.records.first("SELECT email FROM clients WHERE id = ?", client_id)
        return {**shown, "email": row["email"]} if row and "email" in shown else shown

    def as_text(self, caller: Caller, tool: str, result: Any) -> Any:
        """Mask the email in the text."""
        if tool != "get_client" or caller.role != "paralegal":
            return result
        return {**result, "email": self.masked_email(result["email"])}


@fault(
    "words of refusals",
    Step("client", "get_matter", {"matter_id": "M-1001 "}),
    shows="{M-1001.title}",
)
class DidYouMean(Chambers):
    """For an id that does not exist the refusal proposes the nearest of all matters by title."""

    def find(self, matter_id: str) -> Row | None:
        """Return a matter, or propose another."""
        found = super().find(matter_id)
        if found is None:
            near = [one for one in self.all_matters() if one["id"][:5] == matter_id[:5]]
            names = ", ".join(f"{one['id']} ({one['title']})" for one in near)
            raise Denied(f"Not found: there is no {matter_id}; did you mean {names}?")
        return found
