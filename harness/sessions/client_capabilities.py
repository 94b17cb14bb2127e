"""What a client says that it can do: the one place where abilities become MCP's capabilities.

An ability is the way to a capability (`harness.types.TransportSpec.abilities`): ``sampling`` is
``{"sampling": {}}``, and ``elicitation/url`` is ``{"elicitation": {"url": {}}}``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def build_capabilities(abilities: Iterable[str]) -> dict[str, Any]:
    """Return the client capabilities with ``abilities``, in the form of MCP."""
    capabilities: dict[str, Any] = {}
    for ability in abilities:
        place = capabilities
        for part in ability.split("/"):
            place = place.setdefault(part, {})
    return capabilities
