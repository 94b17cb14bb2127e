"""The caller's identity, or part of it, is taken from where anybody may write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.proofs.planted.calls import Call
from tests.proofs.planted.clinic import ROLES, Clinic


class _Lenient(Clinic):
    """Takes undeclared arguments without a word."""

    def check_arguments(self, call: Call) -> None:
        return

    def identify(self, call: Call) -> Mapping[str, Any]:
        who = super().identify(call)
        told = self.claimed(call) if who else None
        return who if told is None else {**who, **told}

    def claimed(self, call: Call) -> Mapping[str, Any] | None:
        """Return the attributes that the request claims."""
        raise NotImplementedError


def _role(value: Any) -> Mapping[str, Any] | None:
    return {"role": value} if value in ROLES else None


class RoleArgument(_Lenient):
    """An argument `role` replaces the caller's."""

    def claimed(self, call: Call) -> Mapping[str, Any] | None:
        return _role(call.args.get("role"))


class AsRole(_Lenient):
    """An argument `as_role` lets act as another role."""

    def claimed(self, call: Call) -> Mapping[str, Any] | None:
        return _role(call.args.get("as_role"))


class UserContextArgument(_Lenient):
    """An argument `user_context` replaces the identity."""

    def claimed(self, call: Call) -> Mapping[str, Any] | None:
        given = call.args.get("user_context")
        return given if isinstance(given, dict) else None


class UserArgument(_Lenient):
    """An argument `user` with attributes replaces the identity."""

    def claimed(self, call: Call) -> Mapping[str, Any] | None:
        given = call.args.get("user")
        return given if isinstance(given, dict) else None


class OnBehalfOf(_Lenient):
    """An argument `on_behalf_of` names the employee to act for."""

    def claimed(self, call: Call) -> Mapping[str, Any] | None:
        staff = self.data.staff.get(str(call.args.get("on_behalf_of")))
        return {name: staff[name] for name in ("staff_id", "role", "ward")} if staff else None


class StaffIdArgument(_Lenient):
    """An argument `staff_id` says who one is."""

    def claimed(self, call: Call) -> Mapping[str, Any] | None:
        staff = self.data.staff.get(str(call.args.get("staff_id")))
        if staff is None or call.tool == "get_staff":
            return None
        return {name: staff[name] for name in ("staff_id", "role", "ward")}


class MetaArgument(_Lenient):
    """An argument `_meta` is read as if it were the request's."""

    def claimed(self, call: Call) -> Mapping[str, Any] | None:
        given = call.args.get("_meta")
        values = list(_dicts(given)) if isinstance(given, dict) else []
        return next((found for value in values if (found := _role(value.get("role")))), None)


class AdminArgument(_Lenient):
    """An argument `is_admin` makes a director."""

    def claimed(self, call: Call) -> Mapping[str, Any] | None:
        return {"role": "director"} if call.args.get("is_admin") is True else None


class WardArgument(_Lenient):
    """An argument `ward` of any tool moves the caller to that ward."""

    def claimed(self, call: Call) -> Mapping[str, Any] | None:
        return {"ward": call.args["ward"]} if "ward" in call.args else None


class RoleInFilter(_Lenient):
    """A `role` within the filter of a list replaces the caller's."""

    def claimed(self, call: Call) -> Mapping[str, Any] | None:
        given = call.args.get("filter")
        return _role(given.get("role")) if isinstance(given, dict) else None


class RoleAnywhere(_Lenient):
    """All objects of a request are merged into the context, however deep they stand."""

    def claimed(self, call: Call) -> Mapping[str, Any] | None:
        found = (_role(value.get("role")) for value in _dicts(call.args))
        return next((role for role in found if role), None)


class MetaRole(Clinic):
    """A key `role` in `_meta`, beside the identity, replaces the role."""

    def identify(self, call: Call) -> Mapping[str, Any]:
        who = super().identify(call)
        return {**who, **(_role(call.meta.get("role")) or {})} if who else who


class MetaUser(Clinic):
    """A key `user` in `_meta`, beside the identity, replaces it."""

    def identify(self, call: Call) -> Mapping[str, Any]:
        given = call.meta.get("user")
        return given if isinstance(given, dict) else super().identify(call)


class MetaContext(Clinic):
    """Any key of `_meta` that ends in `user_context` is believed."""

    def identify(self, call: Call) -> Mapping[str, Any]:
        who: Mapping[str, Any] = {}
        for key, value in call.meta.items():
            if key.endswith("user_context") and isinstance(value, dict):
                who = {**who, **value}
        return who


class Impersonate(_Lenient):
    """An argument `impersonate` or `acting_as` names a role to act as."""

    def claimed(self, call: Call) -> Mapping[str, Any] | None:
        return _role(call.args.get("impersonate") or call.args.get("acting_as"))


class NestedUser(_Lenient):
    """An argument `context` with a `user` in it replaces the identity."""

    def claimed(self, call: Call) -> Mapping[str, Any] | None:
        context = call.args.get("context")
        given = context.get("user") if isinstance(context, dict) else None
        return given if isinstance(given, dict) else None


class RolesArgument(_Lenient):
    """An argument `roles` or `scopes` adds rights."""

    def claimed(self, call: Call) -> Mapping[str, Any] | None:
        given = call.args.get("roles") or call.args.get("scopes") or ()
        return _role(next((known for known in ROLES if known in given), None))


class IdentityInText(Clinic):
    """A name to search for that says `role=director` is taken at its word."""

    def identify(self, call: Call) -> Mapping[str, Any]:
        who = super().identify(call)
        said = str(call.args.get("name", ""))
        return {**who, "role": said.partition("role=")[2]} if who and "role=" in said else who


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for part in value.values():
            yield from _dicts(part)
