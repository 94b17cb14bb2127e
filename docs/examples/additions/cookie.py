# harness/sessions/identity/deliveries/cookie.py
"""``via: cookie``: the user's role is in a cookie of every HTTP request."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import ClassVar

from harness.base import line_field
from harness.sessions.identity.delivery import IdentityDelivery, RequestAdditions
from harness.types import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class CookieDelivery(IdentityDelivery):
    """Sends the role in a cookie."""

    cookie: str | None = None
    """Its name."""

    fields: ClassVar = {"cookie": line_field("via cookie: the name of the cookie.")}
    needs_http: ClassVar = True

    def find_problems(self, keys: Collection[str]) -> Iterator[tuple[str | None, str, str]]:
        """Yield that no cookie is named."""
        if self.cookie is None:
            yield None, "identity via cookie names no cookie.", "Add 'cookie: NAME'."

    async def build_additions(self, user_context: JsonObject) -> RequestAdditions:
        """Return the cookie."""
        return RequestAdditions({"Cookie": f"{self.cookie}={user_context.get('role', '')}"})


DELIVERY = CookieDelivery
"""``via: cookie``."""
