"""What is known of models without any configuration: hosted providers, their keys, and names people use.

Names such as ``claude-4-sonnet`` are in wide use and are not ids that an API knows; `api_id` turns
them into one and says so. An id that an API does know is never replaced by another, even if it is
old: then the API's own answer is the better message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosted:
    """A provider that has a service of its own."""

    key_variable: str
    """The environment variable that usually holds the key."""
    base_url_variable: str
    """The environment variable that usually names another endpoint."""
    host: str
    """The service's host; subdomains belong to it."""
    ids: re.Pattern[str]
    """What the ids of its models look like."""

    def owns(self, base_url: str | None) -> bool:
        """Whether ``base_url`` is the provider's own service, and no gateway or local server."""
        try:
            host = urlsplit(base_url).hostname or "" if base_url else self.host
        except ValueError:
            return False
        return host == self.host or host.endswith(f".{self.host}")


HOSTED: Mapping[str, Hosted] = {
    "anthropic": Hosted(
        key_variable="ANTHROPIC_API_KEY",
        base_url_variable="ANTHROPIC_BASE_URL",
        host="api.anthropic.com",
        ids=re.compile(r"claude-[a-z0-9]"),
    ),
    "openai": Hosted(
        key_variable="OPENAI_API_KEY",
        base_url_variable="OPENAI_BASE_URL",
        host="api.openai.com",
        ids=re.compile(r"(?:ft:)?(?:gpt-|chatgpt-|codex-|o\d)"),
    ),
}
"""Provider name → what is known of it."""

PROVIDER_ALIASES: Mapping[str, str] = {"claude": "anthropic"}
"""Other names of providers in a model's ``type``."""

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
# Name in use → the model that it named, which the API no longer serves, and the successor that
# its maker recommends.

_FAMILY = r"(?P<family>opus|sonnet|haiku)"
_SWAPPED = re.compile(rf"claude-(?P<major>\d)-(?P<minor>\d)-{_FAMILY}")
_WITH_DASHES = re.compile(
    rf"claude-(?:{_FAMILY}-\d.*|\d-\d-(?:opus|sonnet|haiku)(?:-\d{{8}}|-latest)?)"
)
# Ids that people write with a dot; claude-2.1 and claude-instant-1.2 have theirs to the API as
# well.
_FAMILY_LAST = re.compile(rf"claude-\d-{_FAMILY}")

WELL_KNOWN = (
    *_RETIRED,
    "claude-sonnet-4-6",
    "claude-opus-4-8",
    "claude-haiku-4-5",
    "gpt-4o",
    "gpt-4o-mini",
    "gpt-4.1",
)
"""Names worth offering when somebody mistypes one."""


def api_id(name: str) -> tuple[str, str | None]:
    """Return the id that the API knows for ``name``, and a note for the user where it is another.

    >>> api_id("claude-4.5-sonnet")
    ('claude-sonnet-4-5', 'claude-4.5-sonnet is claude-sonnet-4-5 to the API')
    """
    dashed = name.replace(".", "-")
    if dashed not in _RETIRED and not _WITH_DASHES.fullmatch(dashed):
        return name, _advice(name)
    if dashed in _RETIRED:
        model, successor = _RETIRED[dashed]
        return (
            successor,
            f"{name} names {model}, which is retired: its successor {successor} answers",
        )
    swapped = _SWAPPED.fullmatch(dashed)
    known = (
        f"claude-{swapped['family']}-{swapped['major']}-{swapped['minor']}" if swapped else dashed
    )
    return known, None if known == name else f"{name} is {known} to the API"


def _advice(name: str) -> str | None:
    """Return a note on a name that looks like one in use, and is neither that nor an id in the API's form."""
    wrong = _FAMILY_LAST.fullmatch(name)
    near = next(
        (known for known in WELL_KNOWN if wrong and known.startswith(f"claude-{wrong['family']}-")),
        None,
    )
    return (
        f"{name} is no name that is known here, and ids have the family first: {near}"
        if near
        else None
    )


def provider_of(name: str) -> str | None:
    """Return the hosted provider whose ids look like ``name``, if there is one."""
    return next((provider for provider, hosted in HOSTED.items() if hosted.ids.match(name)), None)
