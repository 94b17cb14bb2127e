"""The lists of a server itself, by pages: its tools, resources, templates and prompts.

They are asked for like tools whose argument is a cursor. Of each page only the names are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.base import HarnessError, ServerError
from harness.judging import Result
from harness.probing.caller_sessions import Prober
from harness.probing.cursors.arguments import LISTS
from harness.sessions import Session

CURSOR = "cursor"
"""The parameter that takes a cursor."""
_NEXT = "nextCursor"
_NAMING = ("uri", "uriTemplate", "name")


async def find_owners(prober: Prober) -> Mapping[str, list[str]]:
    """Return the methods whose first page has a cursor, and the identities that were given it."""
    found: dict[str, list[str]] = {method: [] for method in LISTS}
    for caller in prober.plan.callers:
        try:
            async with prober.open_session(caller) as session:
                for method, given in found.items():
                    if await _has_more(session, method):
                        given.append(caller.name)
        except HarnessError:
            continue  # who is not let in is given nothing
    return found


async def _has_more(session: Session, method: str) -> bool:
    try:
        return bool((await session.send_request(method, {})).get(_NEXT))
    except ServerError:
        return False  # most servers have not all of the lists


def collect_names(method: str, page: Mapping[str, Any]) -> dict[str, Any]:
    """Return the names and addresses on a page, as the result of a call."""
    items = page.get(LISTS[method])
    rows = [
        {key: item[key]}
        for item in (items if isinstance(items, list) else ())
        if isinstance(item, Mapping)
        for key in _NAMING
        if isinstance(item.get(key), str)
    ]
    following = {_NEXT: page[_NEXT]} if page.get(_NEXT) else {}
    return {"structured": {LISTS[method]: rows, **following}}


def iterate_names(result: Result) -> Iterator[str]:
    """Yield the names and addresses on a page that `collect_names` has kept."""
    return (str(leaf.value) for leaf in result.leaves if leaf.name in _NAMING)
