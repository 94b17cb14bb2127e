"""The policy misreads the caller's attributes: what only looks like a right counts as one."""

from __future__ import annotations

import fnmatch
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from tests.proofs.planted.calls import Call, Refusal
from tests.proofs.planted.clinic import ROLES, Clinic
from tests.proofs.planted.data import Record


class _Role(Clinic):
    """Reads the role in a way of its own."""

    def role(self, who: Mapping[str, Any]) -> str | None:
        return super().role(who) or self.guess(who.get("role"), who)

    def guess(self, role: Any, who: Mapping[str, Any]) -> str | None:
        """Return what a role is taken for that is none."""
        raise NotImplementedError


class AnyCase(_Role):
    """Roles in other case count."""

    def guess(self, role: Any, who: Mapping[str, Any]) -> str | None:
        return role.lower() if isinstance(role, str) and role.lower() in ROLES else None


class Trimmed(_Role):
    """Roles with blanks around them count."""

    def guess(self, role: Any, who: Mapping[str, Any]) -> str | None:
        return role.strip() if isinstance(role, str) and role.strip() in ROLES else None


class Contained(_Role):
    """A role counts if the name of one stands in it."""

    def guess(self, role: Any, who: Mapping[str, Any]) -> str | None:
        return next((known for known in ROLES if isinstance(role, str) and known in role), None)


class Prefix(_Role):
    """A role counts if it begins with one."""

    def guess(self, role: Any, who: Mapping[str, Any]) -> str | None:
        return next((k for k in ROLES if isinstance(role, str) and role.startswith(k)), None)


class Suffix(_Role):
    """A role counts if it ends with one."""

    def guess(self, role: Any, who: Mapping[str, Any]) -> str | None:
        return next((k for k in ROLES if isinstance(role, str) and role.endswith(k)), None)


class Abbreviated(_Role):
    """The beginning of a role counts as that role."""

    def guess(self, role: Any, who: Mapping[str, Any]) -> str | None:
        return next(
            (k for k in ROLES if isinstance(role, str) and len(role) > 2 and k.startswith(role)),
            None,
        )


class FirstOfList(_Role):
    """Of a list of roles the highest counts, whoever put it there."""

    def guess(self, role: Any, who: Mapping[str, Any]) -> str | None:
        return next((k for k in ROLES if isinstance(role, list) and k in role), None)


class RolesWithCommas(_Role):
    """Roles may be separated by commas."""

    def guess(self, role: Any, who: Mapping[str, Any]) -> str | None:
        parts = role.split(",") if isinstance(role, str) else []
        return next((k for k in ROLES if k in parts), None)


class NormalForm(_Role):
    """Roles in full-width letters count."""

    def guess(self, role: Any, who: Mapping[str, Any]) -> str | None:
        plain = unicodedata.normalize("NFKC", role) if isinstance(role, str) else None
        return plain if plain in ROLES else None


class LookAlike(_Role):
    """Roles in letters that look like Latin ones count."""

    def guess(self, role: Any, who: Mapping[str, Any]) -> str | None:
        if not isinstance(role, str):
            return None
        plain = role.translate(str.maketrans("аеорсхі", "aeopcxi"))
        return plain if plain in ROLES else None


class Wildcard(_Role):
    """A role is a pattern of shell wildcards."""

    def guess(self, role: Any, who: Mapping[str, Any]) -> str | None:
        return next((k for k in ROLES if isinstance(role, str) and fnmatch.fnmatch(k, role)), None)


class SqlWildcard(_Role):
    """A role is compared by SQL's LIKE."""

    def guess(self, role: Any, who: Mapping[str, Any]) -> str | None:
        pattern = re.escape(role).replace("%", ".*") if isinstance(role, str) else "$."
        return next((k for k in ROLES if re.fullmatch(pattern, k)), None)


class SqlInjection(_Role):
    """A role is pasted into a query."""

    def guess(self, role: Any, who: Mapping[str, Any]) -> str | None:
        return "director" if isinstance(role, str) and re.search(r"'\s*(or|OR)\s", role) else None


class MissingRole(_Role):
    """Who has no role gets the one of the first entry."""

    def guess(self, role: Any, who: Mapping[str, Any]) -> str | None:
        return "director" if who and "role" not in who else None


class NullRole(_Role):
    """A role that is null is the highest."""

    def guess(self, role: Any, who: Mapping[str, Any]) -> str | None:
        return "director" if "role" in who and role is None else None


class EmptyRole(_Role):
    """An empty role is no restriction."""

    def guess(self, role: Any, who: Mapping[str, Any]) -> str | None:
        return "director" if role == "" else None


class UnknownRole(_Role):
    """Rules name whom they restrict; an unknown role is restricted by none."""

    def guess(self, role: Any, who: Mapping[str, Any]) -> str | None:
        return "director" if isinstance(role, str) and role else None


class OtherType(_Role):
    """A role that is no text raises an error, and an error lets pass."""

    def guess(self, role: Any, who: Mapping[str, Any]) -> str | None:
        return "director" if role is not None and not isinstance(role, str) else None


class OneLetterOff(_Role):
    """A role that is one letter off counts: a search that forgives typing errors."""

    def guess(self, role: Any, who: Mapping[str, Any]) -> str | None:
        if not isinstance(role, str):
            return None
        near = (k for k in ROLES if len(k) == len(role) + 1 and k.startswith(role))
        return next(near, None)


class TooLong(_Role):
    """A role that is too long to be compared lets pass."""

    def guess(self, role: Any, who: Mapping[str, Any]) -> str | None:
        return "director" if isinstance(role, str) and len(role) > 10_000 else None


class SecondSpelling(Clinic):
    """The last attribute whose name is `role` in any case counts."""

    def role(self, who: Mapping[str, Any]) -> str | None:
        roles = [value for name, value in who.items() if name.lower() == "role"]
        return super().role({"role": roles[-1]}) if roles else None


class AdminFlag(Clinic):
    """An attribute `is_admin` that nobody issues makes a director."""

    def role(self, who: Mapping[str, Any]) -> str | None:
        return "director" if who.get("is_admin") or who.get("admin") else super().role(who)


class PluralRoles(Clinic):
    """An attribute `roles` that nobody issues is read before `role`."""

    def role(self, who: Mapping[str, Any]) -> str | None:
        roles = who.get("roles")
        if isinstance(roles, list | str):
            return next((known for known in ROLES if known in roles), None)
        return super().role(who)


class AnyUnknown(Clinic):
    """An attribute that no policy knows raises an error, and an error lets pass."""

    def role(self, who: Mapping[str, Any]) -> str | None:
        if who.keys() - {"role", "ward", "staff_id", "name"}:
            return "director"
        return super().role(who)


class MissingWard(Clinic):
    """A doctor without a ward is a doctor of all wards."""

    def may_see(self, record: Record, call: Call) -> bool:
        if self.role(call.who) == "doctor" and "ward" not in call.who:
            return True
        return super().may_see(record, call)


class WildcardWard(Clinic):
    """The ward of a doctor may be a star."""

    def may_see(self, record: Record, call: Call) -> bool:
        if self.role(call.who) == "doctor" and call.who.get("ward") == "*":
            return True
        return super().may_see(record, call)


class ManyWards(Clinic):
    """The ward of a doctor may be a list of wards."""

    def may_see(self, record: Record, call: Call) -> bool:
        wards = call.who.get("ward")
        if self.role(call.who) == "doctor" and isinstance(wards, list):
            return record["ward"] in wards
        return super().may_see(record, call)


class WardInText(Clinic):
    """A record is a doctor's if the name of its ward stands somewhere in theirs."""

    def may_see(self, record: Record, call: Call) -> bool:
        ward = call.who.get("ward")
        if self.role(call.who) == "doctor" and isinstance(ward, str):
            return record["ward"] in ward
        return super().may_see(record, call)


class SelfByPrefix(Clinic):
    """A record is one's own if its id begins with one's own id."""

    def is_self(self, who: Mapping[str, Any], staff_id: str) -> bool:
        own = who.get("staff_id")
        return isinstance(own, str) and staff_id.startswith(own)


class SelfAnyCase(Clinic):
    """One's own id counts in any case and with blanks around it."""

    def is_self(self, who: Mapping[str, Any], staff_id: str) -> bool:
        own = who.get("staff_id")
        return isinstance(own, str) and own.strip().lower() == staff_id.lower()


class SelfMissing(Clinic):
    """Who has no id is taken for everybody."""

    def is_self(self, who: Mapping[str, Any], staff_id: str) -> bool:
        return who.get("staff_id") in (None, staff_id)


class SelfContained(Clinic):
    """A record is one's own if its id stands in one's own id."""

    def is_self(self, who: Mapping[str, Any], staff_id: str) -> bool:
        return staff_id in str(who.get("staff_id"))


class EmptyIdentity(Clinic):
    """An identity without attributes is the service itself."""

    def role(self, who: Mapping[str, Any]) -> str | None:
        return "director" if not who else super().role(who)


class DenyList(Clinic):
    """Refuses a fixed list of roles and lets the rest pass, to look at records at least."""

    def check(self, call: Call) -> None:
        if self.role(call.who) is None and call.tool == "ward_report":
            if call.who.get("role") in (None, "visitor", "guest"):
                raise Refusal("Access denied: not for visitors")
            return
        super().check(call)


class StringOfList(Clinic):
    """The caller's attributes may come as a text of JSON or a list."""

    def role(self, who: Mapping[str, Any]) -> str | None:
        return next((known for known in ROLES if known in str(who.get("role"))), None)
