"""A server's state, read by a query in its entry instead of by the server."""

from __future__ import annotations

import shlex
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from harness.base import HarnessError, did_you_mean, parsed_json
from harness.types import ServerSpec, StateQuery

QUERY_S = 10.0
_TOLD_CHARS = 300


async def run_query(server: ServerSpec, name: str) -> Any:
    """Return the result of the query ``name``: rows as objects, or its command's output.

    Raises:
        HarnessError: there is no such query, it failed, or it took longer than `QUERY_S`.
    """
    query = server.queries.get(name)
    if query is None:
        meant = (
            did_you_mean(name, server.queries)
            or f"Its queries: {', '.join(server.queries) or 'none'}."
        )
        raise HarnessError(f"server {server.name!r} declares no query {name!r}. {meant}")
    with anyio.move_on_after(QUERY_S):
        if query.command is not None:
            return await _run_command(query.command, server, name)
        # A thread in SQLite cannot be interrupted, so it is left to itself.
        return await anyio.to_thread.run_sync(_query_rows, query, server, abandon_on_cancel=True)
    raise HarnessError(f"the query {name!r} took longer than {QUERY_S:g} s")


def _query_rows(query: StateQuery, server: ServerSpec) -> list[dict[str, Any]]:
    path = Path(server.transport.cwd or ".") / (query.database or "")
    # Half of the time for a locked database, so that SQLite's own error comes first.
    place, timeout = f"{path.resolve().as_uri()}?mode=ro", QUERY_S / 2
    try:
        with closing(sqlite3.connect(place, uri=True, timeout=timeout)) as database:
            rows = database.execute(query.sql or "")
            names = [column for column, *_ in rows.description or ()]
            return [
                {
                    name: value.hex() if isinstance(value, bytes) else value
                    for name, value in zip(names, row, strict=True)
                }
                for row in rows
            ]
    except sqlite3.Error as error:
        raise HarnessError(f"the query of {path.name} failed: {error}") from error


async def _run_command(command: str, server: ServerSpec, name: str) -> Any:
    try:
        ended = await anyio.run_process(shlex.split(command), cwd=server.transport.cwd, check=False)
    except (OSError, ValueError) as error:
        raise HarnessError(f"the query {name!r} cannot be run: {error}") from error
    if ended.returncode != 0:
        said = ended.stderr.decode("utf-8", "replace").strip()[-_TOLD_CHARS:]
        raise HarnessError(f"the query {name!r} ended with exit code {ended.returncode}: {said}")
    return parsed_json(ended.stdout.decode("utf-8", "replace").strip())
