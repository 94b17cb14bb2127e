"""Who may see what at the firm.

| role | matters | of a matter | of a client |
|---|---|---|---|
| partner | all | everything | everything |
| associate | own team's | no settlement | tax number masked |
| paralegal | own team's | no settlement, no fee | name, email masked |
| client | own | title, status, opened, fee | own record |
| auditor | all | id, team, status, opened | nothing |

An associate or paralegal may act for a second team until a day. Whoever fits no row is nobody.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.proofs.unseen.data import Row

TODAY: Final = "2026-06-15"
"""The firm's clock stands still, so that answers do not vary."""
_DAY: Final = re.compile(r"2[0-9]{3}-[01][0-9]-[0-3][0-9]")
"""A last day that is no day gives nothing: any other text would sort somewhere, too."""
MATTER_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "partner": (
        "id", "title", "client_id", "team", "status", "opened", "fee_budget", "settlement",
    ),
    "associate": ("id", "title", "client_id", "team", "status", "opened", "fee_budget"),
    "paralegal": ("id", "title", "client_id", "team", "status", "opened"),
    "client": ("id", "title", "status", "opened", "fee_budget"),
    "auditor": ("id", "team", "status", "opened"),
}  # fmt: skip
"""What each role sees of a matter."""
LAWYERS: Final = frozenset({"partner", "associate", "paralegal"})
SMALLEST_GROUP: Final = 3
"""A statistic of fewer matters would tell of single ones."""


class Denied(Exception):
    """The caller may not do this; the text is the same whatever exists."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks."""

    role: str = ""
    """Empty for nobody."""
    user: str = ""
    teams: frozenset[str] = frozenset()
    client_id: str = ""


NOBODY: Final = Caller()


class Policy:
    """The firm's rules, one method each."""

    def caller(self, attributes: Mapping[str, Any]) -> Caller:
        """Return who has these attributes: `NOBODY` unless all that the role needs are texts."""
        role = self.role(attributes)
        user = self.text(attributes, "user")
        if role not in MATTER_FIELDS or not user:
            return NOBODY
        if role in ("associate", "paralegal"):
            teams = self.teams(attributes)
            return Caller(role, user, teams) if teams else NOBODY
        if role == "client":
            client_id = self.text(attributes, "client_id")
            return Caller(role, user, client_id=client_id) if client_id else NOBODY
        return Caller(role, user)

    def text(self, attributes: Mapping[str, Any], name: str) -> str:
        """Return an attribute that is a text, else nothing."""
        value = attributes.get(name)
        return value if isinstance(value, str) else ""

    def role(self, attributes: Mapping[str, Any]) -> str:
        """Return the caller's role as it was given."""
        return self.text(attributes, "role")

    def teams(self, attributes: Mapping[str, Any]) -> frozenset[str]:
        """Return the caller's team, and the one they act for as long as that holds."""
        team = self.text(attributes, "team")
        if not team:
            return frozenset()
        second = self.text(attributes, "acting_for")
        return frozenset({team, second} if second and self.acting(attributes) else {team})

    def acting(self, attributes: Mapping[str, Any]) -> bool:
        """Return whether a delegation has a last day that has not passed."""
        until = self.text(attributes, "until")
        return _DAY.fullmatch(until) is not None and until >= TODAY

    def in_scope(self, caller: Caller, matter: Row) -> bool:
        """Return whether the caller may know of this matter."""
        if matter["deleted"] or not caller.role:
            return False
        if caller.role == "client":
            return bool(matter["client_id"] == caller.client_id)
        if caller.role in ("partner", "auditor"):
            return True
        return self.in_team(caller, matter["team"])

    def in_team(self, caller: Caller, team: str | None) -> bool:
        """Return whether a matter of ``team`` is one of the caller's."""
        return team in caller.teams

    def fields(self, caller: Caller) -> tuple[str, ...]:
        """Return what the caller sees of a matter."""
        return MATTER_FIELDS.get(caller.role, ())

    def shown(self, caller: Caller, matter: Row) -> Row:
        """Return the part of a matter that the caller sees."""
        return {name: matter[name] for name in self.fields(caller)}

    def shown_client(self, caller: Caller, client: Row) -> Row:
        """Return the part of a client's record that the caller sees."""
        if caller.role in ("partner", "client"):
            return client
        email = self.masked_email(client["email"])
        if caller.role == "paralegal":
            return {"id": client["id"], "name": client["name"], "email": email}
        return {**client, "tax_number": self.masked_number(client["tax_number"])}

    def masked_email(self, email: str) -> str:
        """Return the first letter and the domain."""
        return f"{email[0]}***@{email.partition('@')[2]}"

    def masked_number(self, number: str) -> str:
        """Return the last two digits."""
        return "*" * (len(number) - 2) + number[-2:]

    def require(self, allowed: bool) -> None:
        """Refuse unless ``allowed``.

        Raises:
            Denied: it is not.
        """
        if not allowed:
            raise Denied("Access denied: there is no such record, or you may not use it this way")
