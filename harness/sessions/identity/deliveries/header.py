"""``via: header``: the user is in headers of every HTTP request."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import field
from typing import ClassVar

from harness.base import texts_by_name_field
from harness.sessions.identity.delivery import (
    IdentityDelivery,
    RequestAdditions,
    check_headers,
    fill_templates,
)
from harness.types import JsonObject, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderDelivery(IdentityDelivery):
    """Sends the user in named headers, as a proxy before the server would."""

    headers: JsonObject = field(default_factory=dict)
    """Header name → template."""

    fields: ClassVar = {
        "headers": texts_by_name_field("via header: HTTP header → template, such as {role}.")
    }
    needs_http: ClassVar = True

    @property
    def http_names(self) -> frozenset[str]:
        """The named headers."""
        return frozenset(self.headers)

    def find_problems(self, keys: Collection[str]) -> Iterator[tuple[str | None, str, str]]:
        """Yield that no header is named."""
        if not self.headers:
            yield None, "identity via header names no header.", "Add 'headers:'."

    def check_user(self, user_context: JsonObject) -> None:
        """Accept only a user whose attributes may stand in headers."""
        check_headers(fill_templates(self.headers, user_context), "this user_context")

    async def build_additions(self, user_context: JsonObject) -> RequestAdditions:
        """Return the filled headers; one whose template lacks an attribute is not sent."""
        return RequestAdditions(fill_templates(self.headers, user_context))


DELIVERY = HeaderDelivery
"""``via: header``."""
