"""Anthropic and every endpoint compatible with its Messages API.

Names such as ``claude-4-sonnet`` are in wide use but are no ids of the API; `api_id` translates
them and says so. An id that the API knows is never replaced, even if it is old: then the API's own
answer is the better message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from harness.models.dialects.schema_rules import ANTHROPIC, LIKE_ANTHROPIC
from harness.models.model import Dialect, Provider, Service
from harness.types import ModelSpec

_RETIRED: Mapping[str, tuple[str, str]] = {
    "claude-3-opus": ("Claude Opus 3", "claude-opus-4-8"),
    "claude-3-sonnet": ("Claude Sonnet 3", "claude-sonnet-4-6"),
    "claude-3-haiku": ("Claude Haiku 3", "claude-haiku-4-5"),
    "claude-3-5-sonnet": ("Claude Sonnet 3.5", "claude-sonnet-4-6"),
    "claude-3-5-haiku": ("Claude Haiku 3.5", "claude-haiku-4-5"),
    "claude-3-7-sonnet": ("Claude Sonnet 3.7", "claude-sonnet-4-6"),
    "claude-4-sonnet": ("Claude Sonnet 4", "claude-sonnet-4-6"),
    "claude-4-opus": ("Claude Opus 4", "claude-opus-4-8"),
}
# Name in use → the retired model that it names, and the successor that Anthropic recommends.

_FAMILY = r"(?P<family>opus|sonnet|haiku)"
_SWAPPED = re.compile(rf"claude-(?P<major>\d)-(?P<minor>\d)-{_FAMILY}")
_WITH_DASHES = re.compile(
    rf"claude-(?:{_FAMILY}-\d.*|\d-\d-(?:opus|sonnet|haiku)(?:-\d{{8}}|-latest)?)"
)
# Ids that are often written with a dot; claude-2.1 and claude-instant-1.2 really have one.
_FAMILY_LAST = re.compile(rf"claude-\d-{_FAMILY}")

_WELL_KNOWN = (*_RETIRED, "claude-sonnet-4-6", "claude-opus-4-8", "claude-haiku-4-5")


def api_id(name: str) -> tuple[str, str | None]:
    """Return the API's id for ``name``, and a note for the user if it differs.

    >>> api_id("claude-4.5-sonnet")
    ('claude-sonnet-4-5', 'claude-4.5-sonnet is claude-sonnet-4-5 to the API')
    """
    dashed = name.replace(".", "-")
    if dashed in _RETIRED:
        model, known = _RETIRED[dashed]
        return known, f"{name} names {model}, which is retired; its successor {known} answers"
    if not _WITH_DASHES.fullmatch(dashed):
        return name, _find_advice(name)
    swapped = _SWAPPED.fullmatch(dashed)
    known = swapped.expand(r"claude-\g<family>-\g<major>-\g<minor>") if swapped else dashed
    return known, None if known == name else f"{name} is {known} to the API"


def _find_advice(name: str) -> str | None:
    """Return a note on a name that looks like one in use but is unknown and not an id."""
    wrong = _FAMILY_LAST.fullmatch(name)
    opening = f"claude-{wrong['family']}-" if wrong else "?"
    near = next((known for known in _WELL_KNOWN if known.startswith(opening)), None)
    return f"{name} is not a known name; ids begin with the family: {near}" if near else None


def refuse_temperature(spec: ModelSpec) -> str | None:
    """Return why the API takes no temperature, if it takes none."""
    versions = (v for name, v in spec.headers.items() if name.lower() == "anthropic-version")
    is_newest = all(version >= "2026" for version in versions)
    return "Anthropic's API takes none since its version 2026-10-21" if is_newest else None


DIALECT = Dialect(
    provider="Anthropic",
    longest_name=128,
    refused=("allOf", "anyOf", "oneOf"),
    key=re.compile(r"[a-zA-Z0-9_.-]{1,64}"),
    rules=ANTHROPIC,
)
"""Rules of its API for tools."""
COMPATIBLE = replace(DIALECT, provider="A compatible endpoint", rules=LIKE_ANTHROPIC)
"""Rules of others' endpoints that speak its API."""

SERVICE = Service(
    url="https://api.anthropic.com",
    key_variable="ANTHROPIC_API_KEY",
    base_url_variable="ANTHROPIC_BASE_URL",
    ids=re.compile(r"claude-[a-z0-9](?!.*@)"),
    well_known=_WELL_KNOWN,
    api_id=api_id,
)
"""Anthropic's own API."""


def get_dialect(spec: ModelSpec) -> Dialect:
    """Return the rules for tools of the endpoint at which a model is asked."""
    return DIALECT if SERVICE.is_own_url(spec.base_url) else COMPATIBLE


PROVIDER = Provider(
    opens="harness.models.anthropic:AnthropicModel",
    service=SERVICE,
    aliases=("claude",),
    dialect=DIALECT,
    takes=("image", "file"),
    temperature_refused=refuse_temperature,
)
"""``type: anthropic``."""
