"""Runs the conformance package: where it is, on which Node.js, and how long it may take."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import anyio

from harness.agents.conformance.outcomes import (
    ScenarioResult,
    ServerOffer,
    find_unscored,
    judge_scenario,
)
from harness.agents.program import FinishedProgram, launch_program
from harness.agents.workplace import TemporaryFolder, Workplace
from harness.base import AgentError, UsageError, did_you_mean, load_json
from harness.types import JsonObject, dataclass

PACKAGE = "@modelcontextprotocol/conformance"
VERSION = "0.2.0-alpha.12"
"""The version whose results are known to be read rightly."""
REVISIONS = ("2026-07-28", "2025-11-25")
"""The revisions of MCP whose requirements it has; the newest first."""
NODE = 22
"""The major version of Node.js that it needs."""
START_S = 120.0
"""Seconds in which npx may have to install the package; later ones are for one scenario each."""
_OBSERVER = Path(__file__).with_name("observer.js")
_ENTRY = Path("dist") / "index.js"
_RESULT = re.compile(r"server-(.+)-\d{4}-\d\d-\d\dT[\dZ-]+")
_MOST_BYTES = 20_000_000
_SHOWN = 500
# What npm and Node.js need; the rest of the environment may be secrets, and none of their business.
_VARIABLES = re.compile(
    r"PATH|HOME|LANG|LC_ALL|TZ|NODE_EXTRA_CA_CERTS|npm_config_\w+|(https?|no|all)_proxy",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformancePackage:
    """How the package is started."""

    command: tuple[str, ...]
    """Program and first arguments."""
    version: str
    """Its version."""


def find_package(folder: Path | None) -> ConformancePackage:
    """Return the package below ``folder``, or by npx in `VERSION` if there is no folder.

    Raises:
        UsageError: it is not there, or Node.js is missing or too old.
    """
    if folder is None:
        _find_node(())
        if (npx := shutil.which("npx")) is None:
            raise UsageError("npx is not on the PATH", meant="Install it, or give --package.")
        name = f"{PACKAGE}@{VERSION}"
        return ConformancePackage(
            command=(npx, "--yes", f"--package={name}", "--", "conformance"), version=VERSION
        )
    for place in (folder, folder / "node_modules" / PACKAGE, folder / PACKAGE):
        if (entry := (place / _ENTRY).resolve()).is_file():
            break
    else:
        raise UsageError(
            f"{PACKAGE} is not in {folder}",
            meant=f"Install it: npm install --prefix {folder} {PACKAGE}@{VERSION}",
        )
    # An npm package may bring Node.js itself, next to the others.
    beside = [one / "node_modules" / ".bin" for one in (folder, *entry.parents)]
    node = _find_node([str(one / "node") for one in beside])
    return ConformancePackage(command=(node, str(entry)), version=_read_version(entry))


def _read_version(entry: Path) -> str:
    try:
        return str(load_json((entry.parents[1] / "package.json").read_text("utf-8"))["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return "unknown"


def _find_node(beside: Sequence[str]) -> str:
    found = None
    for path in (*beside, shutil.which("node")):
        if path is None or not os.access(path, os.X_OK):
            continue
        try:
            done = subprocess.run(  # noqa: S603 - the user's Node.js, asked for its version
                [path, "--version"], capture_output=True, text=True, timeout=10, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        version = re.match(r"v(\d+)", done.stdout)
        if version and int(version[1]) >= NODE:
            return path
        found = done.stdout.strip()[:50]
    was = f"Node.js {found} is too old" if found else "Node.js was not found"
    raise UsageError(
        f"the conformance scenarios need Node.js {NODE} or newer: {was}",
        meant=f"Install Node.js {NODE}, so that 'node --version' says so.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformanceRun:
    """What is to be run, and against which address."""

    package: ConformancePackage
    url: str
    headers: Mapping[str, str]
    """Sent with every request; they may be secrets."""
    revision: str
    scenarios: tuple[str, ...]
    """Empty for all that the revision requires."""
    timeout_s: float
    """Seconds for one scenario."""


async def run_scenarios(run: ConformanceRun, offer: ServerOffer | None) -> list[ScenarioResult]:
    """Run the scenarios and return their outcomes, in the order of their runs.

    Raises:
        AgentError: the package cannot be started, hangs, or wrote no results.
        UsageError: it does not know a scenario.
    """
    limit = ("--timeout", str(round(run.timeout_s * 1000)))
    sets: list[tuple[str, ...]] = [
        ("--scenario", name, "--spec-version", run.revision) for name in run.scenarios
    ] or [("--requirements", run.revision)]
    results = []
    for chosen in sets:
        with TemporaryFolder() as folder:
            arguments = (
                "server",
                "--url",
                run.url,
                *chosen,
                *limit,
                "-o",
                str(folder.path / "out"),
            )
            command = (*run.package.command, *arguments)
            done = await _run_package(command, _make_place(run, folder.path), run.timeout_s)
            found = _read_results(folder.path, done.out, offer)
        if not found:
            raise explain_absence(done, chosen)
        results += found
    return results


def _make_place(run: ConformanceRun, folder: Path) -> Workplace:
    parts = urlsplit(run.url)
    env = {name: value for name, value in os.environ.items() if _VARIABLES.fullmatch(name)}
    env |= {
        "TMPDIR": str(folder),
        "NO_COLOR": "1",
        "NODE_OPTIONS": f'--require="{_OBSERVER}"',
        "OBSERVER_NOTES": str(folder / "notes.jsonl"),
        "OBSERVER_ORIGIN": f"{parts.scheme}://{parts.netloc}",
        # In the environment: other users of the machine can read a command line.
        "OBSERVER_HEADERS": json.dumps(dict(run.headers)),
    }
    return Workplace(
        work=folder,
        home=Path.home(),
        env=env,
        url=run.url,
        server="server",
        files={},
        system=None,
        most_bytes=_MOST_BYTES,
    )


async def _run_package(
    command: Sequence[str], place: Workplace, timeout_s: float
) -> FinishedProgram:
    """Run the package to its end; it tells of each scenario that it begins."""
    out, silent_s = bytearray(), START_S + timeout_s
    async with launch_program(command, place) as program:
        await program.stdin.aclose()
        while True:
            with anyio.move_on_after(silent_s) as waiting:
                data = await program.read_chunk()
            if waiting.cancelled_caught:
                raise AgentError(f"the conformance package said nothing for {silent_s:g} s")
            if not data:
                break
            # It has its own limit for a scenario; half as much again is for a busy machine.
            out, silent_s = out + data, 1.5 * timeout_s + 10
        code = 0
        with anyio.move_on_after(timeout_s):
            code = await program.wait_exit_code()
        text = out.decode("utf-8", "replace")
        return FinishedProgram(
            name="the conformance package", code=code, out=text, stderr=program.stderr.get_text()
        )


def _read_results(folder: Path, printed: str, offer: ServerOffer | None) -> list[ScenarioResult]:
    requests: dict[str, list[JsonObject]] = defaultdict(list)
    notes = folder / "notes.jsonl"
    for line in notes.read_text("utf-8").splitlines() if notes.exists() else ():
        request = load_json(line)
        requests[request["scenario"]].append(request)
    unscored = dict(find_unscored(printed))
    checks: dict[str, list[JsonObject]] = {}
    for path in (folder / "out").glob("*/checks.json"):
        if found := _RESULT.fullmatch(path.parent.name):
            checks[found[1]] = load_json(path.read_text("utf-8"))
    order = re.findall(r"Running client scenario '([^']+)'", printed)
    return [
        # One that crashed wrote no checks: the package says why in words of its own.
        judge_scenario(name, checks[name], requests[name], offer, unscored.get(name))
        if name in checks
        else _build_crash(name, printed, unscored.get(name))
        for name in dict.fromkeys(order)
    ]


def _build_crash(name: str, printed: str, unscored: str | None) -> ScenarioResult:
    after = printed.partition(f"Running client scenario '{name}'")[2].partition("\n=== ")[0]
    words = " ".join(after.splitlines()[1:3]).strip() or "it wrote no checks"
    return ScenarioResult(
        name=name, status="failed", passed=0, total=0, why=(words,), unscored=unscored
    )


def explain_absence(done: FinishedProgram, chosen: Sequence[str]) -> AgentError | UsageError:
    """Return the error of a run without results, by what the package said."""
    said, name = f"{done.stderr}\n{done.out}", chosen[1]
    if "Unknown scenario" in said:
        known = re.findall(r"^  - (\S+)$", said, re.MULTILINE)
        return UsageError(
            f"the package has no scenario {name!r} for servers",
            meant=did_you_mean(name, known) or f"It has: {', '.join(known)}.",
        )
    if skipped := re.search(r"SKIPPED: .*? (\(introduced [^)]*\))", said):
        return UsageError(
            f"scenario {name!r} is not one of revision {chosen[-1]} {skipped[1]}",
            meant="Name another by --revision.",
        )
    last = " ".join((done.stderr or done.out).split())[-_SHOWN:]
    return done.build_error(f"it wrote no results; it said: {last}")
