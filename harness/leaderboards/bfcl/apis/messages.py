"""The messenger of the leaderboard: one inbox for all users, with entries ``{receiver: text}``."""

from __future__ import annotations

import random
from collections.abc import Iterator

from harness.leaderboards.bfcl.apis.common import Api, Reply, Scenario, Tables, refuse_request

_SEED = 200191
_NUMBERS = (10000, 99999)
_NOBODY = "No user is currently logged in."


class MessageAPI(Api):
    """The users of a workspace and the messages among them."""

    generated_ids: set[int]
    user_count: int
    user_map: dict[str, str]
    inbox: list[dict[str, str]]
    message_count: int
    current_user: str | None

    def __init__(self, scenario: Scenario, tables: Tables, *, long_context: bool = False) -> None:
        """Take attributes from ``scenario``, and the others from the defaults in the tables."""
        super().__init__(scenario, tables, long_context=long_context)
        # A generator of its own, so that the model's calls and the expected ones draw alike.
        self._random = random.Random(scenario.get("random_seed", _SEED))  # noqa: S311 -- repeatable, not secret

    def list_users(self) -> Reply:
        """Return the names of all users."""
        return {"user_list": list(self.user_map)}

    def get_user_id(self, user: str) -> Reply:
        """Return the id of a user."""
        if user not in self.user_map:
            return refuse_request(f"User '{user}' not found in the workspace.")
        return {"user_id": self.user_map[user]}

    def message_login(self, user_id: str) -> Reply:
        """Log a user in."""
        known = user_id in list(self.user_map.values())
        if known:
            self.current_user = user_id
        ending = "logged in successfully." if known else "not found."
        subject = f"User '{user_id}'" if known else f"User ID '{user_id}'"
        return {"login_status": known, "message": f"{subject} {ending}"}

    def message_get_login_status(self) -> Reply:
        """Say whether somebody is logged in."""
        return {"login_status": bool(self.current_user)}

    def send_message(self, receiver_id: str, message: str) -> Reply:
        """Send a message."""
        if not self.current_user:
            return refuse_request(_NOBODY)
        if receiver_id not in self.user_map.values():
            return refuse_request(f"Receiver ID '{receiver_id}' not found.")
        number = self._new_number()
        self.inbox.append({receiver_id: message})
        self.message_count += 1
        return {
            "sent_status": True,
            "message_id": {"new_id": number},
            "message": f"Message sent to '{receiver_id}' successfully.",
        }

    def delete_message(self, receiver_id: str) -> Reply:
        """Delete the latest message to a receiver; of several equal messages, the first."""
        if not self.current_user:
            return refuse_request(_NOBODY)
        # The receiver is the only key of an entry.
        theirs = [message for message in self.inbox if next(iter(message)) == receiver_id]
        if not theirs:
            return refuse_request(f"Receiver ID {receiver_id} not found.")
        self.inbox.remove(theirs[-1])
        return {
            "deleted_status": True,
            "receiver_id": receiver_id,
            "message": f"Receiver {receiver_id}'s latest message deleted successfully.",
        }

    def view_messages_sent(self) -> Reply:
        """Return all messages by receiver."""
        if not self.current_user:
            return refuse_request(_NOBODY)
        by_receiver: dict[str, list[str]] = {}
        for receiver, text in self._iterate_messages():
            by_receiver.setdefault(receiver, []).append(text)
        return {"messages": by_receiver}

    def add_contact(self, user_name: str) -> Reply:
        """Add a user. The count increases even if the new id already exists."""
        if user_name in self.user_map:
            return refuse_request(f"User name '{user_name}' already exists.")
        self.user_count += 1
        user_id = f"USR{str(self.user_count).zfill(3)}"
        if user_id in self.user_map.values():
            return refuse_request(f"User ID '{user_id}' already exists.")
        self.user_map[user_name] = user_id
        return {
            "added_status": True,
            "user_id": user_id,
            "message": f"Contact '{user_name}' added successfully.",
        }

    def search_messages(self, keyword: str) -> Reply:
        """Return the messages that contain ``keyword``, in any case."""
        if not self.current_user:
            return refuse_request(_NOBODY)
        wanted = keyword.lower()
        found = [
            {"receiver_id": who, "message": text}
            for who, text in self._iterate_messages()
            if wanted in text.lower()
        ]
        return {"results": found}

    def get_message_stats(self) -> Reply:
        """Count the messages and their receivers."""
        if not self.current_user:
            return refuse_request(_NOBODY)
        receivers = [receiver for receiver, _ in self._iterate_messages()]
        return {"stats": {"received_count": len(receivers), "total_contacts": len(set(receivers))}}

    def _iterate_messages(self) -> Iterator[tuple[str, str]]:
        for message in self.inbox:
            yield next(iter(message.items()))

    def _new_number(self) -> int:
        while (number := self._random.randint(*_NUMBERS)) in self.generated_ids:
            pass
        self.generated_ids.add(number)
        return number
