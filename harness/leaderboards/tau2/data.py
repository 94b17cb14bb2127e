"""The fetched data of a domain: folders, tasks and policy."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from harness.base import (
    DataParts,
    NothingToRun,
    UsageError,
    builtin_server,
    cache_root,
    did_you_mean,
    read_stamp,
)
from harness.leaderboards.tau2.revisions import REVISIONS
from harness.leaderboards.tau2.tasks import JsonNode, Task, read_task
from harness.types import ScriptedCall, ServerSpec

HASH_URI: Final = "state://hash"
"""URI of the resource with the SHA-256 of a domain server's database."""
RESET_TOOL: Final = "state/reset"
"""The unlisted tool that resets the database to its initial state."""

DOMAINS: Final = ("airline", "retail")
"""The domains of tau2-bench that have a built-in server."""


_ANY: Final = 0
"""However few tasks were fetched will do."""


def select_domains(names: Sequence[str]) -> tuple[str, ...]:
    """Return ``names``, or all domains if there are none.

    Raises:
        UsageError: there is no such domain.
    """
    for name in names:
        if name not in DOMAINS:
            near = did_you_mean(name, DOMAINS) or f"Domains: {', '.join(DOMAINS)}."
            raise UsageError(f"tau2-bench has no domain {name!r} here", meant=near)
    return tuple(names) or DOMAINS


def domain_folder(domain: str) -> Path:
    """Return the folder of a domain's fetched data.

    Raises:
        NothingToRun: the data were not fetched; the message has the command that fetches them.
    """
    folder = cache_root() / "tau2"
    if not fetched_parts(read_stamp(folder), (domain,), _ANY):
        raise NothingToRun(
            "the data of tau2-bench are not there; fetch them once: harness fetch tau2"
        )
    return folder / domain


def fetched_parts(
    noted: Mapping[str, Any] | None, domains: Collection[str], limit: int | None
) -> bool:
    """Return whether a folder stamped ``noted`` holds these domains, of any known revision."""
    parts = (
        DataParts(tree=revision.tree_digest, names=frozenset(domains), limit=limit)
        for revision in REVISIONS
    )
    return any(part.is_covered_by(noted) for part in parts)


def domain_server(domain: str, folder: Path, unlisted: Sequence[str] = ()) -> ServerSpec:
    """Return the built-in server of a domain over the data in ``folder``: fresh for every trial.

    ``unlisted`` are tools that the server executes but does not list.
    """
    server = builtin_server(domain)
    options = ["--data", str(folder.absolute()), "--reset-tool", RESET_TOOL]
    for name in unlisted:
        options += ["--unlisted-tool", name]
    return replace(
        server,
        transport=replace(server.transport, args=(*server.transport.args, *options)),
        isolation="case",
        reset=ScriptedCall(tool=RESET_TOOL),
    )


def read_tasks(folder: Path) -> tuple[Task, ...]:
    """Return the tasks of the domain whose data are in ``folder``.

    Raises:
        UsageError: the tasks cannot be read.
    """
    path = folder / "tasks.json"
    try:
        whole = json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}") from error
    if not isinstance(whole, list):
        raise UsageError(f"{path} is not a list of tasks")
    nodes = (JsonNode(value, f"{path}[{number}]") for number, value in enumerate(whole))
    return tuple(map(read_task, nodes))


def read_policy(folder: Path) -> str:
    """Return the policy for an agent of the domain.

    Raises:
        UsageError: the policy cannot be read.
    """
    path = folder / "policy.md"
    try:
        return path.read_text("utf-8")
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
