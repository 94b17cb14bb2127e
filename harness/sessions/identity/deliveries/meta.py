"""``via: meta``: the user is in ``_meta`` of every request."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, ClassVar

from harness.base import InvalidValue, line_field, parse_single_line
from harness.sessions.identity.delivery import IdentityDelivery
from harness.types import USER_CONTEXT_META_KEY, JsonObject, dataclass

_META_KEY = re.compile(
    r"(?:{label}(?:\.{label})*/)?[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?".replace(
        "{label}", r"[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
    ),
    re.ASCII,
)
_META_KEYS_OF_MCP = frozenset({"progressToken", "traceparent", "tracestate", "baggage"})
_LABELS_OF_MCP = frozenset({"mcp", "modelcontextprotocol"})  # first or second of a prefix


_KEY = line_field(
    f"via meta: the key of _meta for the user_context; default {USER_CONTEXT_META_KEY}."
)


def _parse_meta_key(value: Any) -> str:
    """Parse a key of ``_meta``, by the grammar of the MCP specification."""
    key = parse_single_line(value)
    if not _META_KEY.fullmatch(key):
        meant = "Write it like com.example/user, or user."
        raise InvalidValue(f"{key!r} is not a key for _meta", meant=meant)
    labels = key.rpartition("/")[0].lower().split(".")
    if key in _META_KEYS_OF_MCP or _LABELS_OF_MCP.intersection(labels[:2]):
        meant = "Choose one of your own domain."
        raise InvalidValue(f"the key {key!r} belongs to MCP itself", meant=meant)
    return key


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaDelivery(IdentityDelivery):
    """Sends the whole user in ``_meta`` of every ``tools/list`` and ``tools/call``."""

    meta_key: str = USER_CONTEXT_META_KEY
    """The key that holds the user."""

    fields: ClassVar = {"meta_key": replace(_KEY, parse=_parse_meta_key)}
    plain: ClassVar = frozenset({"meta_key"})
    is_in_each_message: ClassVar = True

    @property
    def meta_keys(self) -> frozenset[str]:
        """The key that holds the user."""
        return frozenset({self.meta_key})

    def build_meta(self, user_context: JsonObject) -> JsonObject:
        """Return the whole user under the key."""
        return {self.meta_key: dict(user_context)}


DELIVERY = MetaDelivery
"""``via: meta``."""
