"""``via: env``: the user is in the environment of a process of their own."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import field
from typing import ClassVar

from harness.base import UsageError, line_field, texts_by_name_field
from harness.sessions.identity.delivery import IdentityDelivery, fill_templates
from harness.types import JsonObject, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvDelivery(IdentityDelivery):
    """Starts each user's process with the user in named variables, in a JSON one, or in both."""

    variables: JsonObject = field(default_factory=dict)
    """Variable name → template; empty means only `json_variable`."""
    json_variable: str | None = None
    """The variable that holds the whole user as JSON."""

    fields: ClassVar = {
        "variables": texts_by_name_field("via env: variable → template, such as {role}."),
        "json_variable": line_field("via env: a variable for the whole user_context as JSON."),
    }
    plain: ClassVar = frozenset({"json_variable"})
    has_process_per_user: ClassVar = True

    def find_problems(self, keys: Collection[str]) -> Iterator[tuple[str | None, str, str]]:
        """Yield that no variable is named."""
        if not (self.variables or self.json_variable):
            meant = "Add 'json_variable: NAME', or 'variables:'."
            yield None, "identity via env names no variable.", meant

    def check_user(self, user_context: JsonObject) -> None:
        """Accept only a user whose attributes are text that a variable can hold."""
        for name, text in self.build_environment(user_context).items():
            if "\0" in text:
                raise UsageError(
                    f"the variable {name!r} of this user_context cannot be set: it contains U+0000",
                    meant="Remove the character, or encode the value.",
                )

    def build_environment(self, user_context: JsonObject) -> dict[str, str]:
        """Return the filled variables; one whose template lacks an attribute is not set."""
        variables = fill_templates(self.variables, user_context)
        if self.json_variable is not None:
            variables[self.json_variable] = json.dumps(dict(user_context), ensure_ascii=False)
        return variables


DELIVERY = EnvDelivery
"""``via: env``."""
