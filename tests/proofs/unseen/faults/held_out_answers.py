"""Faults in what answers say, held out."""

from __future__ import annotations

import hashlib
from typing import Any

from tests.proofs.unseen.chambers import Chambers
from tests.proofs.unseen.data import Row
from tests.proofs.unseen.faults.base import Step, fault
from tests.proofs.unseen.policy import Caller


@fault("a second way to the data", Step("paralegal", "export_matters"), shows="{M-1005.fee_budget}")
class ExportKeepsFee(Chambers):
    """The export has the columns of an associate for every lawyer, so a paralegal gets the fees."""

    def export_matters(self, caller: Caller, status: str = "") -> str:
        """Export with the same columns for all lawyers."""
        reader = Caller("associate") if caller.role == "paralegal" else caller
        return self.as_csv([self.shown(reader, one) for one in self.selected(caller, status)])


@fault(
    "a second way to the data",
    Step("client", "search_matters", {"query": "o"}),
    shows="{M-1001.title}",
)
class SearchCrossesTeams(Chambers):
    """The search looks through the matters of everybody."""

    def search_matters(self, caller: Caller, query: str) -> Row:
        """Search all matters."""
        self.require("title" in self.fields(caller))
        live = [one for one in self.all_matters() if not one["deleted"]]
        found = [one for one in live if query.casefold() in one["title"].casefold()]
        return {"matters": [self.shown(caller, matter) for matter in found]}


@fault(
    "batches",
    Step("client", "get_matters", {"matter_ids": ["M-1002", "M-1001"]}),
    shows="{M-1001.title}",
)
class BatchChecksFirst(Chambers):
    """Of several ids only the first is checked."""

    def get_matters(self, caller: Caller, matter_ids: list[str]) -> Row:
        """Check one, and return all."""
        if matter_ids:
            self.matter(caller, matter_ids[0])
        found = [row for one in matter_ids if (row := self.find(one)) is not None]
        return {"matters": [self.shown(caller, row) for row in found]}


@fault("resources", Step("client", "resource chambers://matters/M-1001"), shows="{M-1001.title}")
class ResourceUnchecked(Chambers):
    """The resource of a matter has its fields filtered, and nobody asks whose it is."""

    def matter_page(self, caller: Caller, matter_id: str) -> Row:
        """Return any matter."""
        found = self.find(matter_id)
        self.require(found is not None and bool(caller.role))
        assert found is not None
        return self.shown(caller, found)


@fault("completion", Step("client", "complete M-"), shows="{M-1007.title}")
class CompletionOfAll(Chambers):
    """Completion proposes the matters of everybody, with their titles."""

    def completions(self, caller: Caller, start: str) -> list[str]:
        """Propose all matters."""
        found = [one for one in self.all_matters() if one["id"].startswith(start)]
        return [f"{one['id']} {one['title']}" for one in found]


@fault(
    "states",
    Step("partner", "update_matter", {"matter_id": "M-1002", "status": "closed"}),
    Step("client", "list_notes", {"matter_id": "M-1002"}),
    shows="{N-1002b.body}",
)
class NotesOfClosed(Chambers):
    """A client may read privileged notes once the matter is closed."""

    def note_visible(self, caller: Caller, matter: Row, note: Row) -> bool:
        """Release the notes of closed matters."""
        return super().note_visible(caller, matter, note) or matter["status"] == "closed"


@fault(
    "optional parameters",
    Step("associate", "get_matter", {"matter_id": "M-1001", "include": ["settlement"]}),
    shows="{M-1001.settlement}",
)
class IncludeExpands(Chambers):
    """A parameter that no schema declares adds columns to a matter."""

    def undeclared(self, caller: Caller, tool: str, extra: Any) -> None:
        """Keep ``include`` for the answer."""
        if extra.keys() != {"include"} or tool != "get_matter":
            super().undeclared(caller, tool, extra)
        self.included = extra["include"]

    included: Any = ()

    def get_matter(self, caller: Caller, matter_id: str, with_client: bool = False) -> Row:
        """Add the columns that were asked for."""
        shown = super().get_matter(caller, matter_id, with_client)
        wanted, self.included = self.included, ()
        names = wanted.split(",") if isinstance(wanted, str) else wanted
        matter = self.matter(caller, matter_id)
        return {**shown, **{key: matter[key] for key in names if key in matter}}


@fault(
    "counts",
    Step("client", "list_matters"),
    holds=lambda said: '"total": 9' in said[0],
)
class TotalCountsAll(Chambers):
    """The total of a list counts the matters of the whole firm."""

    def page(self, caller: Caller, matters: list[Row], limit: int, cursor: str) -> Row:
        """Count all that is not deleted."""
        page = super().page(caller, matters, limit, cursor)
        return {**page, "total": sum(1 for one in self.all_matters() if not one["deleted"])}


@fault(
    "statistics",
    Step("auditor", "fee_statistics", {"status": "closed"}),
    shows="{M-1003.fee_budget}",
)
class SmallGroupByStatus(Chambers):
    """The least size of a group is forgotten where statistics are filtered by status."""

    def smallest_group(self, status: str) -> int:
        """Return one for a filtered statistic."""
        return 1 if status else super().smallest_group(status)


@fault(
    "masks",
    Step("associate", "get_client", {"client_id": "CL-21"}),
    Step("associate", "list_clients"),
    holds=lambda said: '"tax_number": "*******' in said[0] and '**"' in said[1],
)
class MaskInTwoHalves(Chambers):
    """One tool masks the beginning of a tax number and another its end, which makes it whole."""

    def list_clients(self, caller: Caller) -> Row:
        """Return clients with the other half of the number."""
        listed = super().list_clients(caller)
        for client in listed["clients"] if caller.role == "associate" else ():
            row = self.records.first("SELECT * FROM clients WHERE id = ?", client["id"])
            assert row is not None
            client["tax_number"] = row["tax_number"][:-2] + "**"
        return listed


@fault("notifications", Step("paralegal", "get_matter", {"matter_id": "M-1005"}),
       shows="{M-1005.settlement}")  # fmt: skip
class LogHasRow(Chambers):
    """A debug line that was left in sends the whole row as a log message."""

    def said(self, caller: Caller, tool: str, args: Any) -> tuple[str, str]:
        """Log the row."""
        progress = super().said(caller, tool, args)[1]
        if tool != "get_matter":
            return "", progress
        return f"fetched {self.find(args['matter_id'])}", progress


@fault("beside results", Step("associate", "search_matters", {"query": ""}),
       shows="{M-1003.settlement}")  # fmt: skip
class SecondBlock(Chambers):
    """A second block of text has the rows for old clients that cannot read structured results."""

    def more_blocks(self, caller: Caller, tool: str, result: Any) -> list[str]:
        """Return the rows of a search."""
        return [str(self.scope(caller))] if tool == "search_matters" else []


def _etag(row: Row) -> str:
    return hashlib.sha256(f"{row['id']}:{row['settlement']}".encode()).hexdigest()


@fault(
    "derived values",
    Step("associate", "get_matter", {"matter_id": "M-1001"}),
    holds=lambda said: '"etag"' in said[0],
)
class EtagOfRow(Chambers):
    """The etag is a hash of id and settlement alone, so that every amount can be tried."""

    def shown(self, caller: Caller, matter: Row) -> Row:
        """Add the etag."""
        return {**super().shown(caller, matter), "etag": _etag(matter)}


@fault("derived values", Step("paralegal", "list_matters"), shows="{M-1005.fee_budget}")
class FeeUnderOtherName(Chambers):
    """A new field that is meant for invoices has the fee in it, for everybody."""

    def shown(self, caller: Caller, matter: Row) -> Row:
        """Add the text of an invoice."""
        text = f"{matter['id']}/{matter['fee_budget']}/EUR"
        return {**super().shown(caller, matter), "invoice_reference": text}


@fault("missing attributes", Step("paralegal", "list_matters"), shows="{M-1010.title}")
class UnassignedForAll(Chambers):
    """A matter without a team counts as every team's, although it is for partners to assign."""

    def in_team(self, caller: Caller, team: str | None) -> bool:
        """Take no team for any."""
        return team is None or super().in_team(caller, team)
