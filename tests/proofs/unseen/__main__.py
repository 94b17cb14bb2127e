"""``python -m tests.proofs.unseen [NAME…]``: which planted faults does ``harness probe`` find?

``sound`` is the firm without a fault; ``dev`` and ``held_out`` name all faults of a group. Results
are kept in a file of JSON lines, and what has one is not probed again. What ``harness probe
--destructive`` does is done in three parts, each only where those before it are silent: the
identities' own calls, those with forged calls and damaged identities, those with altered values.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from tests.proofs.unseen.faults import DEV, HELD_OUT
from tests.proofs.warm import warm

SUITE: Final = Path(__file__).with_name("suite.yml")
ROOT: Final = Path(__file__).parents[3]
_SHARED: Final = ("tests.proofs.unseen.server", "harness.cli")
"""What servers and probes import, in every process the same."""
LIMIT_S: Final = 3600
"""A probe that takes longer counts as silent."""
STAGES: Final = {
    "short": ("--named-only", "--no-interference"),
    "forged": ("--destructive", "--no-interference"),
    "altered": ("--destructive", "--named-only"),
}
"""The options of each probe."""
_FAULTS: Final = {**DEV, **HELD_OUT}
_SOUND: Final = ("sound", "sound_bearer")


async def probe(name: str, stage: str, forked: Sequence[str]) -> dict[str, Any]:
    """Probe the firm with a fault; return what was found, and how long that took."""
    fault = _FAULTS.get(name)
    by_token = fault.transport == "bearer" if fault else name == "sound_bearer"
    python, *client = (*forked, "-m")
    arguments = [*client, "tests.proofs.unseen.server", *(["--fault", name] if fault else [])]
    server: dict[str, Any] = {"command": python, "args": arguments}
    if by_token:
        arguments += ["--port", "{port}"]
        server |= {"transport": "http", "identity": "bearer"}
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder), server)
        command = [python, *client, "harness.cli", "probe", "chambers", "--trust"]
        began = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            *command, "--json-output", *STAGES[stage], cwd=folder,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        try:
            out, err = await asyncio.wait_for(process.communicate(), LIMIT_S)
        except TimeoutError:
            process.kill()
            out, err = await process.communicate()
    return {
        "name": name,
        "stage": stage,
        "exit_code": process.returncode,
        "seconds": round(time.monotonic() - began, 1),
        **_findings(out, err),
    }


def _write(folder: Path, server: dict[str, Any]) -> None:
    """Make ``folder`` a project with the suite and this server."""
    config = {"mxcp": 1, "servers": {"chambers": server}}
    (folder / "harness.yml").write_text(json.dumps(config), encoding="utf-8")
    (folder / "evals").mkdir()
    (folder / "evals" / "chambers.yml").write_bytes(SUITE.read_bytes())


def _keep(kept: Path, result: dict[str, Any]) -> None:
    with kept.open("a", encoding="utf-8") as file:
        file.write(json.dumps(result) + "\n")


def _kept(kept: Path) -> dict[tuple[str, str], dict[str, Any]]:
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    return {(one["name"], one["stage"]): one for one in map(json.loads, lines)}


def _findings(out: bytes, err: bytes) -> dict[str, Any]:
    try:
        document = json.loads(out)
    except ValueError:
        return {"findings": 0, "first": "", "error": err.decode(errors="replace")[-500:]}
    found = document.get("findings", [])
    first = f"{found[0]['problem']}: {found[0]['words']}" if found else ""
    sorts = sorted({one["problem"] for one in found})
    return {
        "findings": len(found),
        "first": first,
        "sorts": sorts,
        "all": [one["words"] for one in found],
    }


async def _measure(
    names: Sequence[str], kept: Path, options: argparse.Namespace, forked: Sequence[str]
) -> None:
    known = _kept(kept)
    free = asyncio.Semaphore(options.jobs)

    async def made(name: str, stage: str) -> dict[str, Any]:
        if (name, stage) not in known:
            async with free:
                result = known[name, stage] = await probe(name, stage, forked)
            _keep(kept, result)
        return known[name, stage]

    async def one(name: str) -> dict[str, Any]:
        for stage in STAGES:
            result = await made(name, stage)
            if found(result) or stage == options.stage:
                break
        print(_line(result), flush=True)
        return result

    results = await asyncio.gather(*(one(name) for name in names))
    print(_summary([one for one in results if one["name"] in _FAULTS]))


def found(result: dict[str, Any]) -> bool:
    """Return whether a probe found a problem: exit code 1, with at least one finding."""
    return bool(result["exit_code"] == 1 and result["findings"])


def _line(result: dict[str, Any]) -> str:
    word = "found " if found(result) else "silent"
    said = result["first"] or result.get("error", "") or f"exit code {result['exit_code']}"
    return f"{word} {result['name']}: {' '.join(said.split())[:200]}"


def _summary(results: Sequence[dict[str, Any]]) -> str:
    rates = []
    for group, faults in (("dev", DEV), ("held_out", HELD_OUT)):
        here = [one for one in results if one["name"] in faults]
        if here:
            rates.append(f"{group}: {sum(map(found, here))} of {len(here)} found")
    return "; ".join(rates)


def _selected(names: Sequence[str]) -> list[str]:
    groups = {"dev": list(DEV), "held_out": list(HELD_OUT)}
    selected = [each for name in names or (*_SOUND, *groups) for each in groups.get(name, [name])]
    if unknown := set(selected) - _FAULTS.keys() - {*_SOUND}:
        raise SystemExit(f"there is no fault named {', '.join(sorted(unknown))}")
    return selected


def main() -> None:
    """Probe what was named, or all."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.unseen", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--kept", type=Path, default=Path("unseen.jsonl"), metavar="FILE")
    parser.add_argument("--jobs", type=int, default=1, help="how many probes at a time")
    parser.add_argument(
        "--stage", choices=STAGES, default="altered", help="the longest probe to make"
    )
    options = parser.parse_args()
    names = _selected(options.names)
    with (
        tempfile.TemporaryDirectory() as folder,
        warm(Path(sys.executable), _SHARED, Path(folder, "socket"), ROOT) as forked,
    ):
        asyncio.run(_measure(names, options.kept, options, forked))


if __name__ == "__main__":
    main()
