"""``python -m tests.proofs.gazette [NAME…]``: which planted faults does ``harness probe`` find?

``first`` and ``second`` name all faults of a half, ``sound`` the newsroom without a fault and with
each of its sound oddities. What ``harness probe --destructive`` does is done in two parts, the
second only where the first is silent: the identities' own calls, and then all. Results are kept in
a file of JSON lines, and what has one is not probed again.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal
from unittest.mock import patch

import anyio

from harness.judging.checks import VOCABULARY
from harness.probing import prober
from harness.probing.callers import name_callers
from harness.probing.prober import ProbePlan, run_probe
from harness.probing.report import ProbeReport
from harness.suites.readers import read_suite
from harness.types import IdentitySpec, ServerSpec, TransportSpec
from tests.proofs.gazette.faults import FAULTS, FIRST, SECOND
from tests.proofs.gazette.in_memory import open_memory
from tests.proofs.gazette.server import open_newsroom
from tests.proofs.gazette.sound import SOUND
from tests.proofs.warm import warm

SUITE: Final = Path(__file__).with_name("suite.yml")
ROOT: Final = Path(__file__).parents[3]
_SOUND: Final = ("sound", *SOUND)


def probe(
    name: str, seed: int, folder: Path, forked: Sequence[str], *, damaged: bool
) -> ProbeReport:
    """Probe the newsroom with the fault or the sound oddity ``name``."""
    suite = read_suite(SUITE, VOCABULARY)
    over_http = name in FAULTS and FAULTS[name].over_http
    newsroom = "" if name == "sound" else name
    command, *client = (*(forked or (sys.executable,)), "-m")
    planted = [] if name == "sound" else ["--fault", name]
    arguments = [*client, "tests.proofs.gazette.server", "--seed", str(seed), *planted]
    if over_http:
        arguments += ["--port", "{port}"]
    server = ServerSpec(
        name="gazette",
        transport=TransportSpec(
            command=command,
            args=tuple(arguments),
            cwd=str(ROOT),
            kind="http" if over_http else "stdio",
        ),
        identity=IdentitySpec(via="bearer") if over_http else IdentitySpec(),
    )
    plan = ProbePlan(
        server=server,
        callers=name_callers(suite.cases),
        cases=suite.cases,
        damaged=damaged,
        destructive=True,
    )
    if forked:
        return anyio.run(run_probe, plan, folder).report
    with patch.object(
        prober, "open_sessions", lambda _: open_memory(partial(open_newsroom, newsroom, seed))
    ):
        return anyio.run(run_probe, plan, folder).report


def judge(
    name: str, seed: int, forked: Sequence[str], *, whole: bool, is_sound: bool
) -> dict[str, Any]:
    """Return what was found with a fault, and by which part of the probe."""
    began = time.monotonic()
    parts: Sequence[Literal["named", "all"]] = ("named", "all") if whole else ("named",)
    for part in parts:
        with tempfile.TemporaryDirectory() as folder:
            report = probe(name, seed, Path(folder), forked, damaged=part == "all")
        said = [f"{one.problem}: {one.words}" for one in report.findings]
        if is_sound:
            said += [*report.notes, *report.lost, *report.silent]
        if said:
            break
    return {
        "name": name,
        "seed": seed,
        "part": part,
        "calls": len(report.report.results),
        "seconds": round(time.monotonic() - began, 1),
        "said": said,
    }


def main() -> int:
    """Probe what was named, or all; return 1 if a sound newsroom causes an alarm."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.gazette", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--kept", type=Path, default=Path("gazette.jsonl"), metavar="FILE")
    parser.add_argument("--seeds", type=int, default=1, help="how many, for what is sound")
    parser.add_argument("--in-memory", action="store_true", help="no process, named only; no HTTP")
    parser.add_argument("--named-only", action="store_true", help="make the first part alone")
    options = parser.parse_args()
    groups = {"first": [*FIRST], "second": [*SECOND], "sound": [*_SOUND]}
    names = [each for name in options.names or groups for each in groups.get(name, [name])]
    if unknown := set(names) - FAULTS.keys() - {*_SOUND}:
        parser.error(f"there is no fault named {', '.join(sorted(unknown))}")
    kept: Path = options.kept
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    done = {(one["name"], one["seed"]): one for one in map(json.loads, lines)}
    results = []
    modules = ("tests.proofs.gazette.server",)
    if options.in_memory:
        options.named_only = True
        names = [one for one in names if one not in FAULTS or not FAULTS[one].over_http]
    with (
        tempfile.TemporaryDirectory() as folder,
        nullcontext(())
        if options.in_memory
        else warm(Path(sys.executable), modules, Path(folder, "socket"), ROOT) as forked,
    ):
        for name in names:
            for seed in range(1, 1 + (options.seeds if name in _SOUND else 1)):
                one = done.get((name, seed))
                if one is None:
                    whole, is_sound = not options.named_only, name in _SOUND
                    one = judge(name, seed, forked, whole=whole, is_sound=is_sound)
                    with kept.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(one) + "\n")
                results.append(one)
                first = " ".join(one["said"][0].split())[:160] if one["said"] else ""
                print(f"{'found ' if one['said'] else 'silent'} {name}: {first}", flush=True)
    for group, faults in (("first", FIRST), ("second", SECOND)):
        here = [one for one in results if one["name"] in faults]
        if here:
            print(f"{group}: {sum(bool(one['said']) for one in here)} of {len(here)} found")
    alarms = sum(len(one["said"]) for one in results if one["name"] in _SOUND)
    print(f"{alarms} false alarms")
    return 1 if alarms else 0


if __name__ == "__main__":
    sys.exit(main())
