"""``via: query``: the user is in parameters of the URL of every HTTP request."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import field, replace
from typing import Any, ClassVar
from urllib.parse import urlencode

from harness.base import InvalidValue, UsageError, texts_by_name_field
from harness.sessions.identity.delivery import IdentityDelivery, RequestAdditions, fill_templates
from harness.types import JsonObject, dataclass

_OF_SESSIONS = frozenset({"session_id", "sessionid"})
"""Parameters by which servers over SSE tell sessions apart; one of the user would break them."""

_TEMPLATES = texts_by_name_field("via query: parameter of the URL → template, such as {role}.")


def _parse_parameters(value: Any) -> dict[str, str]:
    parameters: dict[str, str] = _TEMPLATES.parse(value)
    for name in parameters:
        if not name.strip():
            raise InvalidValue("a parameter has no name", path=(name,))
        if name.lower() in _OF_SESSIONS:
            message = f"the parameter {name!r} names a session of the transport"
            meant = "Choose the parameter in which the server expects the user."
            raise InvalidValue(message, path=(name,), meant=meant)
    return parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryDelivery(IdentityDelivery):
    """Sends the user in named parameters, beside those of the server's own URL."""

    parameters: JsonObject = field(default_factory=dict)
    """Parameter → template."""

    fields: ClassVar = {"parameters": replace(_TEMPLATES, parse=_parse_parameters)}
    needs_http: ClassVar = True

    @property
    def http_names(self) -> frozenset[str]:
        """The named parameters."""
        return frozenset(self.parameters)

    def find_problems(self, keys: Collection[str]) -> Iterator[tuple[str | None, str, str]]:
        """Yield that no parameter is named."""
        if not self.parameters:
            yield None, "identity via query names no parameter.", "Add 'parameters:'."

    def check_user(self, user_context: JsonObject) -> None:
        """Accept only a user whose attributes are text that a URL can hold."""
        for name, text in fill_templates(self.parameters, user_context).items():
            try:
                text.encode()
            except UnicodeEncodeError as error:
                raise UsageError(
                    f"the parameter {name!r} of this user_context cannot be sent: half a "
                    "surrogate pair is no text"
                ) from error

    async def build_additions(self, user_context: JsonObject) -> RequestAdditions:
        """Return the filled parameters; one whose template lacks an attribute is not sent."""
        return RequestAdditions(query=urlencode(fill_templates(self.parameters, user_context)))


DELIVERY = QueryDelivery
"""``via: query``."""
