"""What the firm's tools do, each for a caller whose rights have to be asked for."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any, Final

from starlette.types import ASGIApp

from tests.proofs.unseen.data import Records, Row
from tests.proofs.unseen.policy import LAWYERS, SMALLEST_GROUP, Caller, Denied, Policy
from tests.proofs.unseen.tokens import Verifier

PAGE: Final = 4
MOST: Final = 50
_CURSOR_DIGITS: Final = 5
PARTNERS_ONLY: Final = frozenset({"delete_matter"})
"""Tools that nobody else is shown."""


class Chambers(Policy):
    """The firm: its records under its policy.

    Each public method that is named like a tool carries that tool out.
    """

    def __init__(self, records: Records) -> None:
        """Work on ``records``."""
        self.records = records
        self.answered: dict[tuple[str, str], Row] = {}
        """Notes by who added them and the id of their request."""

    # What the server asks for besides tools.

    def identify(self, attributes: Mapping[str, Any]) -> Caller:
        """Return who sends a request with these attributes."""
        return self.caller(attributes)

    def hides(self, caller: Caller, tool: str) -> bool:
        """Return whether the caller is not shown this tool."""
        return tool in PARTNERS_ONLY and caller.role != "partner"

    def refuses(self, caller: Caller, tool: str) -> bool:
        """Return whether the tool does not exist for the caller."""
        return self.hides(caller, tool)

    def unlisted(self, caller: Caller, tool: str, args: Mapping[str, Any]) -> Any:
        """Return what a tool gives that is in no list.

        Raises:
            Denied: always, as there is none.
        """
        raise Denied(f"Unknown tool: {tool}")

    def perform(self, caller: Caller, tool: str, args: Mapping[str, Any]) -> Any:
        """Return what a tool gives this caller: an object, or a text.

        Raises:
            Denied: nothing.
        """
        self.require(bool(caller.role) and not self.refuses(caller, tool))
        return getattr(self, tool)(caller, **args)

    def undeclared(self, caller: Caller, tool: str, extra: Mapping[str, Any]) -> None:
        """Judge arguments that the tool does not have.

        Raises:
            Denied: always, as a typo must not be ignored.
        """
        raise Denied(f"Invalid arguments: {tool} has no argument {', '.join(sorted(extra))}")

    def beside(self, caller: Caller, tool: str, result: Any) -> dict[str, Any]:
        """Return what the result has as ``_meta``."""
        return {}

    def said(self, caller: Caller, tool: str, args: Mapping[str, Any]) -> tuple[str, str]:
        """Return a log message and a progress message of a call; empty ones are not sent."""
        return "", f"{tool} is done"

    def as_text(self, caller: Caller, tool: str, result: Any) -> Any:
        """Return what the text of a result says."""
        return result

    def more_blocks(self, caller: Caller, tool: str, result: Any) -> list[str]:
        """Return further blocks of text of a result."""
        return []

    def verifier(self, issuer: str, jwks_url: str, audience: str) -> Verifier:
        """Return what judges tokens over HTTP."""
        return Verifier(issuer, jwks_url, audience)

    def door(self, app: ASGIApp) -> ASGIApp:
        """Return the web application behind whatever stands before it: nothing."""
        return app

    # Matters

    def all_matters(self) -> list[Row]:
        """Return every matter, deleted ones too."""
        return self.records.rows("SELECT * FROM matters ORDER BY id")

    def scope(self, caller: Caller) -> list[Row]:
        """Return the matters that the caller may know of."""
        return [matter for matter in self.all_matters() if self.in_scope(caller, matter)]

    def find(self, matter_id: str) -> Row | None:
        """Return the matter with exactly this id."""
        return self.records.first("SELECT * FROM matters WHERE id = ?", matter_id)

    def matter(self, caller: Caller, matter_id: str) -> Row:
        """Return a matter in the caller's scope.

        Raises:
            Denied: it is not, or there is none.
        """
        found = self.find(matter_id)
        self.require(found is not None and self.in_scope(caller, found))
        assert found is not None
        return found

    def get_matter(self, caller: Caller, matter_id: str, with_client: bool = False) -> Row:
        """Return one matter, with its client if asked."""
        matter = self.matter(caller, matter_id)
        shown = self.shown(caller, matter)
        if with_client:
            shown["client"] = self.get_client(caller, matter["client_id"])
        return shown

    def get_matters(self, caller: Caller, matter_ids: list[str]) -> Row:
        """Return several matters: all of them, or none."""
        return {"matters": [self.shown(caller, self.matter(caller, one)) for one in matter_ids]}

    def selected(self, caller: Caller, status: str, include_deleted: bool = False) -> list[Row]:
        """Return the matters of a status in the caller's scope; any for an empty status."""
        matters = self.scope(caller)
        if include_deleted:
            self.require(caller.role == "partner")
            matters = self.all_matters()
        return [matter for matter in matters if status in ("", matter["status"])]

    def list_matters(
        self,
        caller: Caller,
        status: str = "",
        sort: str = "id",
        min_fee: int = 0,
        limit: int = PAGE,
        cursor: str = "",
        include_deleted: bool = False,
    ) -> Row:
        """Return a page of matters, how many there are in all, and where the next page begins."""
        matters = self.selected(caller, status, include_deleted)
        self.check_sort(caller, sort)
        if min_fee:
            self.check_fee_filter(caller)
            matters = [matter for matter in matters if matter["fee_budget"] >= min_fee]
        matters.sort(key=lambda matter: (matter[sort] is not None, matter[sort], matter["id"]))
        return self.page(caller, matters, limit, cursor)

    def check_sort(self, caller: Caller, sort: str) -> None:
        """Refuse to sort by what the caller does not see."""
        self.require(sort in self.fields(caller))

    def check_fee_filter(self, caller: Caller) -> None:
        """Refuse to select by a fee that the caller does not see."""
        self.require("fee_budget" in self.fields(caller))

    def page(self, caller: Caller, matters: list[Row], limit: int, cursor: str) -> Row:
        """Return one page of the caller's own matters; a cursor is only a place among these."""
        start = (
            int(cursor)
            if cursor.isascii() and cursor.isdecimal() and len(cursor) <= _CURSOR_DIGITS
            else 0
        )
        end = start + max(1, min(limit, MOST))
        page: Row = {
            "matters": [self.shown(caller, matter) for matter in matters[start:end]],
            "total": len(matters),
        }
        return {**page, "next_cursor": str(end)} if end < len(matters) else page

    def search_matters(self, caller: Caller, query: str) -> Row:
        """Return the matters whose title holds the query."""
        self.require("title" in self.fields(caller))
        found = [one for one in self.scope(caller) if query.casefold() in one["title"].casefold()]
        return {"matters": [self.shown(caller, matter) for matter in found]}

    def export_matters(self, caller: Caller, status: str = "") -> str:
        """Return the caller's matters as CSV."""
        return self.as_csv([self.shown(caller, one) for one in self.selected(caller, status)])

    def as_csv(self, rows: list[Row]) -> str:
        """Return rows as CSV with a header."""
        text = io.StringIO()
        if rows:
            writer = csv.DictWriter(text, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        return text.getvalue()

    def fee_statistics(self, caller: Caller, status: str = "") -> Row:
        """Return number and average fee of each team that has enough matters."""
        self.require(caller.role in ("partner", "auditor"))
        teams: dict[str, list[int]] = {}
        for matter in self.all_matters():
            if not matter["deleted"] and matter["team"] and status in ("", matter["status"]):
                teams.setdefault(matter["team"], []).append(matter["fee_budget"])
        return {
            "teams": [
                {"team": team, "matters": len(fees), "average_fee": round(sum(fees) / len(fees))}
                for team, fees in teams.items()
                if len(fees) >= self.smallest_group(status)
            ]
        }

    def smallest_group(self, status: str) -> int:
        """Return how many matters a statistic has at least."""
        return SMALLEST_GROUP

    def update_matter(self, caller: Caller, matter_id: str, status: str) -> Row:
        """Set the status of a matter."""
        self.require(caller.role in ("partner", "associate"))
        matter = self.matter(caller, matter_id)
        if status not in ("open", "closed"):
            raise Denied("Invalid arguments: status is 'open' or 'closed'")
        self.records.rows("UPDATE matters SET status = ? WHERE id = ?", status, matter["id"])
        self.trace(caller, matter["id"], f"status {status}")
        return {"id": matter["id"], "status": status}

    def delete_matter(self, caller: Caller, matter_id: str) -> Row:
        """Mark a matter as deleted."""
        matter = self.matter(caller, matter_id)
        self.records.rows("UPDATE matters SET deleted = 1 WHERE id = ?", matter["id"])
        self.trace(caller, matter["id"], "deleted")
        return {"id": matter["id"], "deleted": True}

    # Clients

    def client_visible(self, caller: Caller, client_id: str) -> bool:
        """Return whether the caller may know of a client."""
        if caller.role == "client":
            return client_id == caller.client_id
        if caller.role not in LAWYERS:
            return False
        return any(one["client_id"] == client_id for one in self.scope(caller))

    def get_client(self, caller: Caller, client_id: str) -> Row:
        """Return a client's record."""
        client = self.records.first("SELECT * FROM clients WHERE id = ?", client_id)
        self.require(client is not None and self.client_visible(caller, client["id"]))
        assert client is not None
        return self.shown_client(caller, client)

    def list_clients(self, caller: Caller) -> Row:
        """Return the clients that the caller may know of."""
        self.require(caller.role in LAWYERS)
        clients = self.records.rows("SELECT * FROM clients ORDER BY id")
        visible = [one for one in clients if self.client_visible(caller, one["id"])]
        return {"clients": [self.shown_client(caller, client) for client in visible]}

    # Notes and trail

    def list_notes(self, caller: Caller, matter_id: str) -> Row:
        """Return the notes of a matter; privileged ones only to lawyers."""
        self.require(caller.role in LAWYERS or caller.role == "client")
        matter = self.matter(caller, matter_id)
        notes = self.records.rows("SELECT * FROM notes WHERE matter_id = ? ORDER BY id", matter_id)
        visible = [note for note in notes if self.note_visible(caller, matter, note)]
        return {"notes": [{key: note[key] for key in ("id", "author", "body")} for note in visible]}

    def note_visible(self, caller: Caller, matter: Row, note: Row) -> bool:
        """Return whether the caller of a matter in scope may read one of its notes."""
        return caller.role in LAWYERS or not note["privileged"]

    def add_note(self, caller: Caller, matter_id: str, body: str, request_id: str = "") -> Row:
        """Add a note; the same request again gives the same answer."""
        self.require(caller.role in LAWYERS)
        matter = self.matter(caller, matter_id)
        key = self.request_key(caller, request_id)
        if request_id and key in self.answered:
            return self.answered[key]
        count = len(self.records.rows("SELECT id FROM notes"))
        note = {"id": f"N-{count + 1}", "matter_id": matter["id"], "body": body}
        self.records.rows(
            "INSERT INTO notes VALUES (?, ?, ?, ?, 1)", note["id"], matter["id"], caller.user, body
        )
        self.trace(caller, matter["id"], "note added")
        self.answered[key] = note
        return note

    def request_key(self, caller: Caller, request_id: str) -> tuple[str, str]:
        """Return whose request this is."""
        return f"{caller.role}/{caller.user}", request_id

    def trace(self, caller: Caller, matter_id: str, action: str) -> None:
        """Write a line into the audit trail."""
        self.records.rows(
            "INSERT INTO audit VALUES (?, ?, ?, ?)",
            "2026-06-15T12:00:00", matter_id, caller.user, action,
        )  # fmt: skip

    def audit_trail(self, caller: Caller, matter_id: str) -> Row:
        """Return who did what to a matter, and when; never what it says."""
        self.require(caller.role in ("partner", "auditor"))
        matter = self.matter(caller, matter_id)
        entries = self.records.rows(
            "SELECT at, user, action FROM audit WHERE matter_id = ? ORDER BY rowid", matter["id"]
        )
        return {"entries": entries}

    # Resources, prompt, completion

    def matter_page(self, caller: Caller, matter_id: str) -> Row:
        """Return a matter as a resource."""
        return self.shown(caller, self.matter(caller, matter_id))

    def client_page(self, caller: Caller, client_id: str) -> Row:
        """Return a client as a resource."""
        return self.get_client(caller, client_id)

    def brief(self, caller: Caller, matter_id: str) -> str:
        """Return the text of the prompt that asks for a summary of a matter."""
        shown = self.shown(caller, self.matter(caller, matter_id))
        return f"Summarise this matter in five sentences: {shown}"

    def completions(self, caller: Caller, start: str) -> list[str]:
        """Return the ids of the caller's matters that begin so."""
        return [one["id"] for one in self.scope(caller) if one["id"].startswith(start)]
