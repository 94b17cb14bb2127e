"""What a server lists for its callers and nobody could read: nothing is known of it.

A server that answers one identity with an error and lets another one read has decided. What harness
itself did not read for an identity is not known of that identity, whoever else has read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from harness.judging.policy.views import View
from harness.types import SideContent

_MOST_NAMED = 3


def find_unread(views: Iterable[View]) -> tuple[str, ...]:
    """Return what was not read, a line for each reason."""
    read: dict[str, set[str]] = {}
    unread: dict[tuple[str, str, SideContent], None] = {}
    for view in views:
        for place, aside in _iterate_side_content(view):
            if aside.unread is None:
                read.setdefault(place, set()).add(view.identity)
            else:
                # Without its text, so that what differs only there is named once.
                unread[place, view.identity, replace(aside, text="")] = None
    names: dict[tuple[str, str], dict[str, None]] = {}
    for place, identity, aside in unread:
        readers = read.get(place, ())
        if identity not in readers and not (readers and aside.refused):
            names.setdefault((aside.unread or "", place), {})[identity] = None
    lines: dict[tuple[str, str], list[str]] = {}
    for (reason, place), identities in names.items():
        lines.setdefault((reason, ", ".join(identities)), []).append(place)
    return tuple(
        f"{_format_places(places)} (as {identities}): {reason}"
        for (reason, identities), places in lines.items()
    )


def _iterate_side_content(view: View) -> Iterator[tuple[str, SideContent]]:
    """Yield what was beside the tools and beside the results of calls, each with its place."""
    for aside in view.beside:
        yield aside.place, aside
    for call in view.calls:
        yield from ((f"{one.place} of {call.tool}", one) for one in call.beside if one.unread)


def _format_places(places: list[str]) -> str:
    named = ", ".join(places[:_MOST_NAMED])
    more = len(places) - _MOST_NAMED
    return f"{named} and {more:,} more" if more > 0 else named
