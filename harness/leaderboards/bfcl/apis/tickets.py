"""The support desk of the leaderboard."""

from __future__ import annotations

from typing import Any

from harness.leaderboards.bfcl.apis.common import Api, Reply, refuse_request

_EDITABLE = ("title", "description", "status", "priority")
_PRIORITIES = (1, 5)


class TicketAPI(Api):
    """A queue of tickets, and the user who is logged in."""

    ticket_queue: list[dict[str, Any]]
    ticket_counter: int
    current_user: str | None

    def create_ticket(self, title: str, description: str = "", priority: int = 1) -> Reply:
        """Open a ticket; 5 is the highest priority."""
        if not self.current_user:
            return refuse_request("User not authenticated. Please log in to create a ticket.")
        lowest, highest = _PRIORITIES
        if priority < lowest or priority > highest:
            return refuse_request("Invalid priority. Priority must be between 1 and 5.")
        ticket = {
            "id": self.ticket_counter,
            "title": title,
            "description": description,
            "status": "Open",
            "priority": priority,
            "created_by": self.current_user,
        }
        self.ticket_queue.append(ticket)
        self.ticket_counter += 1
        return ticket

    def get_ticket(self, ticket_id: int) -> Reply:
        """Return a ticket."""
        return self._find_ticket(ticket_id) or _refuse_unknown_ticket(ticket_id)

    def close_ticket(self, ticket_id: int) -> Reply:
        """Close a ticket."""
        return self._close_ticket(ticket_id, "Closed")

    def resolve_ticket(self, ticket_id: int, resolution: str) -> Reply:
        """Resolve a ticket and note how."""
        return self._close_ticket(ticket_id, "Resolved", resolution=resolution)

    def edit_ticket(self, ticket_id: int, updates: dict[str, Any]) -> Reply:
        """Change fields of a ticket; ``None`` leaves one as it is."""
        ticket = self._find_ticket(ticket_id)
        if not ticket:
            return _refuse_unknown_ticket(ticket_id)
        unknown = [name for name in updates.keys() if name not in _EDITABLE]  # noqa: SIM118 -- only an object has keys
        if unknown:
            return refuse_request(f"Invalid fields for update: {', '.join(unknown)}")
        ticket.update({name: value for name, value in updates.items() if value is not None})
        return {"status": f"Ticket {ticket_id} has been updated successfully."}

    def ticket_login(self, username: str, password: str) -> Reply:
        """Log in; any name and password are accepted unless empty."""
        if not (username and password):
            return {"success": False}
        self.current_user = username
        return {"success": True}

    def ticket_get_login_status(self) -> Reply:
        """Say whether somebody is logged in."""
        return {"login_status": bool(self.current_user)}

    def logout(self) -> Reply:
        """Log out."""
        was_in = bool(self.current_user)
        if was_in:
            self.current_user = None
        return {"success": was_in}

    def get_user_tickets(self, status: str | None = None) -> list[Reply]:
        """Return the user's own tickets, with ``status`` only those of that status."""
        if not self.current_user:
            return [refuse_request("User not authenticated. Please log in to view tickets.")]
        own = [ticket for ticket in self.ticket_queue if ticket["created_by"] == self.current_user]
        if not status:
            return own
        return [ticket for ticket in own if ticket["status"].lower() == status.lower()]

    def _find_ticket(self, ticket_id: int) -> Reply | None:
        return next((ticket for ticket in self.ticket_queue if ticket["id"] == ticket_id), None)

    def _close_ticket(self, ticket_id: int, status: str, **notes: str) -> Reply:
        """Set the final ``status`` of a ticket, once."""
        ticket = self._find_ticket(ticket_id)
        if not ticket:
            return _refuse_unknown_ticket(ticket_id)
        if ticket["status"] == status:
            return refuse_request(f"Ticket with ID {ticket_id} is already {status.lower()}.")
        ticket.update(status=status, **notes)
        return {"status": f"Ticket {ticket_id} has been {status.lower()} successfully."}


def _refuse_unknown_ticket(ticket_id: int) -> Reply:
    return refuse_request(f"Ticket with ID {ticket_id} not found.")
