"""``harness fetch tau2``: which files of the benchmark, and how they are known to be those."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from harness.canonical import digest
from harness.errors import UsageError, did_you_mean
from harness.fetching import Fetched, Progress, Request
from harness.fetching.cache import Parts, replaced, stamp
from harness.fetching.members import gunzip, members, write
from harness.tau2.data import DOMAINS
from harness.tau2.download import repository
from harness.tau2.pins import SHA256, TOOLS, TREE
from harness.tau2.signatures import tool_schemas

_LATER_TOOLS: Final = frozenset({"get_item_details"})
"""Tools that later revisions have and the servers do not: no model is shown them."""

_DATA: Final = PurePosixPath("data/tau2/domains")
_CODE: Final = PurePosixPath("src/tau2/domains")
_FILES: Final = ("db.json", "policy.md", "tasks.json")
_SOURCES: Final = ("tools.py", "data_model.py")
_LICENCE: Final = "LICENSE"
_GZIP: Final = ".gz"


@dataclass(frozen=True, slots=True)
class Tau2Source:
    """The data of the two domains; satisfies `harness.fetching.Source`."""

    title: str = "tau2-bench: airline and retail, as v0.2.0 has them, with the tasks of later revisions"
    licence: str = "MIT, by Sierra Research; https://github.com/sierra-research/tau2-bench"

    def fetch(self, request: Request, progress: Progress) -> Fetched:
        """Bring the domains to the cache (see `harness.fetching.Source.fetch`)."""
        wanted = _domains(request.categories)
        folder = request.root / "tau2"
        there = stamp(folder)
        parts = Parts(tree=TREE, names=frozenset(wanted), limit=request.limit)
        if there is not None and parts.are_in(there):
            return Fetched(folder=folder, summary=_summary(there), new=False)
        parts = parts.beside(there)
        domains = tuple(name for name in DOMAINS if name in parts.names)
        files = self._files(request, progress, domains)
        progress("verifying", 0, 0)
        for domain in domains:
            _verify(files, domain)
        tasks = {domain: _limit(files, domain, parts.limit) for domain in domains}
        noted = {**parts.stamp(DOMAINS), "tasks": tasks}
        with replaced(folder, noted) as fresh:
            write(files, fresh)
        return Fetched(folder=folder, summary=_summary(noted))

    def _files(self, request: Request, progress: Progress, domains: Sequence[str]) -> dict[str, bytes]:
        """Return the wanted files by the names that they get."""
        if request.origin is None:
            paths = [str(_DATA / domain / name) for domain in domains for name in _FILES]
            paths += [str(_CODE / domain / name) for domain in domains for name in _SOURCES]
            found = repository([*paths, _LICENCE], progress)
        elif not request.origin.exists():
            raise UsageError(
                f"there is nothing at {request.origin}", meant="Name a checkout of the repository, or an archive of it."
            )
        else:
            found = members(request.origin, lambda name: _place(name, domains) is not None)
        files = {}
        for name, content in found.items():
            place = _place(name, domains)
            if place is not None:
                files[place.removesuffix(_GZIP)] = gunzip(name, content) if name.endswith(_GZIP) else content
        for domain in domains:
            _add_schemas(files, domain)
        return {name: content for name, content in files.items() if not name.endswith(".py")}


TAU2_SOURCE = Tau2Source()


def _domains(categories: Sequence[str]) -> tuple[str, ...]:
    for name in categories:
        if name not in DOMAINS:
            near = did_you_mean(name, DOMAINS) or f"Domains: {', '.join(DOMAINS)}."
            raise UsageError(f"tau2-bench has no domain {name!r} here", meant=near)
    return tuple(categories) or DOMAINS


def _place(name: str, domains: Sequence[str]) -> str | None:
    """Return what a file of a checkout, an archive or a plain folder is to be called; ``None`` if it is not needed."""
    path = PurePosixPath(name)
    if path.name == _LICENCE and len(path.parts) <= 2:  # noqa: PLR2004 - at the top, or below an archive's one folder
        return _LICENCE
    domain = path.parent.name
    wanted = {*_FILES, *(f"{file}{_GZIP}" for file in _FILES), "tools.json", *_SOURCES}
    if domain not in domains or path.name not in wanted:
        return None
    above = path.parent.parent
    known = above == PurePosixPath(".") or str(above).endswith((str(_DATA), str(_CODE)))
    return f"{domain}/{path.name}" if known else None


def _add_schemas(files: dict[str, bytes], domain: str) -> None:
    """Make ``tools.json`` of the benchmark's source where it is not there already."""
    sources = [files.get(f"{domain}/{name}") for name in _SOURCES]
    if f"{domain}/tools.json" in files or None in sources:
        return
    tools, data_model = (source.decode("utf-8", "replace") for source in sources if source is not None)
    made = [tool for tool in tool_schemas(tools, data_model) if tool["name"] not in _LATER_TOOLS]
    files[f"{domain}/tools.json"] = json.dumps(made, indent=1).encode()


def _verify(files: Mapping[str, bytes], domain: str) -> None:
    for name in (f"{domain}/{file}" for file in (*_FILES, "tools.json")):
        if name not in files:
            raise UsageError(f"there is no {name}: that is not the data of tau2-bench")
    wrong = [name for name in SHA256 if name in files and hashlib.sha256(files[name]).hexdigest() != SHA256[name]]
    if digest(_json(files, f"{domain}/tools.json")) != TOOLS[domain]:
        wrong.append(f"{domain}/tools.json")
    if wrong:
        raise UsageError(
            f"{', '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} not what the benchmark's figures were made with",
            meant="Scores would not be comparable. Name another revision of the repository with --from.",
        )


def _json(files: Mapping[str, bytes], name: str) -> Any:
    try:
        return json.loads(files[name])
    except ValueError as error:
        raise UsageError(f"{name} is not JSON: {error}") from error


def _limit(files: dict[str, bytes], domain: str, limit: int | None) -> int:
    """Keep the first tasks alone, and return how many there are."""
    name = f"{domain}/tasks.json"
    tasks = _json(files, name)[:limit]
    if limit is not None:
        files[name] = json.dumps(tasks, indent=1).encode()
    return len(tasks)


def _summary(noted: Mapping[str, Any]) -> str:
    return " and ".join(f"{count} tasks of {domain}" for domain, count in noted["tasks"].items())
