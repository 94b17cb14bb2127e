"""Faults in who may make which call, and with what, held out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import jwt

from tests.proofs.unseen.chambers import PARTNERS_ONLY, Chambers
from tests.proofs.unseen.data import Records, Row
from tests.proofs.unseen.faults.base import IDENTITIES, Step, fault
from tests.proofs.unseen.policy import Caller
from tests.proofs.unseen.tokens import REQUIRED, Verifier

_OWN_NOTE = {"matter_id": "M-1001", "body": "The ledger is forged", "request_id": "r-1"}
_OTHER_NOTE = {"matter_id": "M-1005", "body": "Nothing new", "request_id": "r-1"}


@fault(
    "deleted records",
    Step("associate", "list_matters", {"include_deleted": True, "limit": 50}),
    shows="M-1009",
)
class IncludeDeletedForAll(Chambers):
    """Everybody may ask for their deleted matters."""

    def selected(self, caller: Caller, status: str, include_deleted: bool = False) -> list[Row]:
        """Select deleted matters in scope, too."""
        if not include_deleted or caller.role == "partner":
            return super().selected(caller, status, include_deleted)
        rows = [one for one in self.all_matters() if self.in_scope(caller, {**one, "deleted": 0})]
        return [one for one in rows if status in ("", one["status"])]


@fault(
    "idempotency",
    Step("associate", "add_note", _OWN_NOTE),
    Step("paralegal", "add_note", _OTHER_NOTE),
    shows="The ledger is forged",
)
class RequestIdShared(Chambers):
    """Answers are kept by the id of the request alone, and somebody else's is given again."""

    def request_key(self, caller: Caller, request_id: str) -> tuple[str, str]:
        """Return a key without the caller."""
        return "", request_id


@fault("hidden tools", Step("associate", "delete_matter", {"matter_id": "M-1001"}),
       shows='"deleted": true')  # fmt: skip
class DeleteOnlyHidden(Chambers):
    """Deleting is left out of the list of others than partners, and works for them."""

    def refuses(self, caller: Caller, tool: str) -> bool:
        """Refuse nothing that is hidden."""
        return tool not in PARTNERS_ONLY and super().refuses(caller, tool)


@fault("queries", Step("client", "get_matter", {"matter_id": "M-100%"}), shows="{M-1001.title}")
class LikeLookup(Chambers):
    """The id is looked up by LIKE, and the right is checked for a row with exactly that id."""

    def matter(self, caller: Caller, matter_id: str) -> Row:
        """Return the first row that is like the id."""
        exact = self.find(matter_id)
        self.require(bool(caller.role) and (exact is None or self.in_scope(caller, exact)))
        found = self.records.first(
            "SELECT * FROM matters WHERE id LIKE ? AND deleted = 0 ORDER BY id", matter_id
        )
        self.require(found is not None)
        assert found is not None
        return found


@fault(
    "missing attributes",
    Step({"user": "x", "role": "trainee"}, "list_matters"),
    shows="{M-1001.title}",
)
class UnknownRoleIsStaff(Chambers):
    """A role that the policy does not know is taken for a member of the staff in the tax team."""

    def caller(self, attributes: Mapping[str, Any]) -> Caller:
        """Let unknown roles in as an associate."""
        known = super().caller(attributes)
        role = self.role(attributes)
        if known.role or not role or role in {str(one["role"]) for one in IDENTITIES.values()}:
            return known
        return Caller("associate", self.text(attributes, "user"), frozenset({"tax"}))


@fault("comparison", Step("associate", "list_matters", {"limit": 50}), shows="{M-1007.title}")
class TeamPrefix(Chambers):
    """A team is compared by its beginning, so that tax sees the matters of tax-disputes."""

    def in_team(self, caller: Caller, team: str | None) -> bool:
        """Compare beginnings."""
        return team is not None and any(team.startswith(one) for one in caller.teams)


@fault(
    "roles",
    Step({"user": "x", "role": ["client", "partner"]}, "get_matter", {"matter_id": "M-1001"}),
    shows="{M-1001.settlement}",
)
class RoleInList(Chambers):
    """A list of roles counts as the role partner if that is anywhere in it."""

    def role(self, attributes: Mapping[str, Any]) -> str:
        """Look for the highest role."""
        given = attributes.get("role")
        if isinstance(given, list) and "partner" in given:
            return "partner"
        return super().role(attributes)


@fault("delegation", Step("paralegal", "list_matters"), shows="{M-1001.title}")
class DelegationNeverEnds(Chambers):
    """Acting for another team goes on after the last day of it."""

    def acting(self, attributes: Mapping[str, Any]) -> bool:
        """Ask only whether there is a day."""
        return bool(self.text(attributes, "until"))


@fault(
    "caches",
    Step("partner", "list_matters"),
    Step("client", "list_matters"),
    shows="{M-1001.settlement}",
)
class CacheByArguments(Chambers):
    """Lists are cached by their arguments, and not by who asked."""

    def __init__(self, records: Records) -> None:
        """Begin with an empty cache."""
        super().__init__(records)
        self.cache: dict[str, Row] = {}

    def list_matters(self, caller: Caller, **args: Any) -> Row:  # type: ignore[override]  # one way to call it
        """Return what is cached."""
        key = json.dumps(args, sort_keys=True)
        if key not in self.cache:
            self.cache[key] = super().list_matters(caller, **args)
        return self.cache[key]


@fault(
    "caches",
    Step("client", "export_matters"),
    Step({"user": "zoe", "role": "client", "client_id": "CL-21"}, "export_matters"),
    shows="{M-1002.title}",
)
class CacheByRole(Chambers):
    """Exports are cached by role, so that a client gets the export of another."""

    def __init__(self, records: Records) -> None:
        """Begin with an empty cache."""
        super().__init__(records)
        self.cache: dict[str, str] = {}

    def export_matters(self, caller: Caller, status: str = "") -> str:
        """Return what is cached."""
        key = f"{caller.role}/{status}"
        if key not in self.cache:
            self.cache[key] = super().export_matters(caller, status)
        return self.cache[key]


@fault(
    "caches",
    Step("partner", "list_matters"),
    Step("client", "list_matters"),
    shows="{M-1001.settlement}",
)
class FirstCallerKept(Chambers):
    """The server keeps the first caller who is somebody, and takes all others for them."""

    first: Caller | None = None

    def identify(self, attributes: Mapping[str, Any]) -> Caller:
        """Return the first caller."""
        caller = super().identify(attributes)
        if self.first is None and caller.role:
            self.first = caller
        return self.first or caller


@fault(
    "caches",
    Step("partner", "list_matters"),
    Step({"user": "x", "role": ["client"]}, "list_matters"),
    shows="{M-1001.settlement}",
)
class PreviousWhenUnreadable(Chambers):
    """If a role cannot be read, the request is that of the caller before."""

    last: Caller | None = None

    def identify(self, attributes: Mapping[str, Any]) -> Caller:
        """Return the caller, or the last one."""
        if "role" in attributes and not isinstance(attributes["role"], str) and self.last:
            return self.last
        caller = super().identify(attributes)
        self.last = caller if caller.role else self.last
        return caller


@fault(
    "rights to change",
    Step("associate", "update_matter",
         {"matter_id": "M-1001", "status": "closed", "settlement": 1}),
    Step("partner", "get_matter", {"matter_id": "M-1001"}),
    shows='"settlement": 1}',
)  # fmt: skip
class MassAssignment(Chambers):
    """An update writes every column that it is sent, also one that the caller may not see."""

    def undeclared(self, caller: Caller, tool: str, extra: Any) -> None:
        """Write further columns."""
        if tool != "update_matter" or not extra.keys() <= {"settlement", "fee_budget"}:
            super().undeclared(caller, tool, extra)
        self.columns = dict(extra)

    columns: Mapping[str, Any] = {}

    def update_matter(self, caller: Caller, matter_id: str, status: str) -> Row:
        """Update, and write what else came."""
        done = super().update_matter(caller, matter_id, status)
        for name, value in self.columns.items():
            statement = f"UPDATE matters SET {name} = ? WHERE id = ?"  # two known names
            self.records.rows(statement, value, matter_id)
        self.columns = {}
        return done


class _AnyAudience(Verifier):
    def claims(self, token: str) -> dict[str, Any]:
        options = {"require": list(REQUIRED), "verify_aud": False}
        return self.decoded(token, options=options)


@fault("tokens", Step("partner", "token wrong_audience"), shows="M-1001")
class AudienceUnchecked(Chambers):
    """A token that the issuer made for another service is accepted."""

    def verifier(self, issuer: str, jwks_url: str, audience: str) -> Verifier:
        """Return a verifier that ignores ``aud``."""
        return _AnyAudience(issuer, jwks_url, audience)


class _IssuerPrefix(Verifier):
    def claims(self, token: str) -> dict[str, Any]:
        claims = self.decoded(token, issuer=None)
        if not str(claims["iss"]).startswith(self.issuer):
            raise jwt.InvalidIssuerError("another issuer")
        return claims


@fault("tokens", Step("partner", "token longer_issuer"), shows="M-1001")
class IssuerPrefix(Chambers):
    """The issuer of a token is compared by its beginning."""

    def verifier(self, issuer: str, jwks_url: str, audience: str) -> Verifier:
        """Return a verifier that compares beginnings."""
        return _IssuerPrefix(issuer, jwks_url, audience)
