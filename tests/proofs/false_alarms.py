"""``python -m tests.proofs.false_alarms``: a correct server over other data, a hundred times.

Does the probe report a false alarm?

For each seed, the server ``data_governance`` starts with people and orders made from that number.
Every identity, and every damaged identity, makes every call of the suite and further calls on some
customers of the data. Rules and server are always the same and correct, so every finding of the
probe is a false alarm.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import yaml

from harness.base.builtin import builtin_root
from harness.judging.checks import VOCABULARY
from harness.probing.callers import name_callers
from harness.probing.prober import ProbePlan, run_probe
from harness.probing.report import ProbeReport
from harness.suites.readers import read_suite
from harness.types import (
    Case,
    ServerSpec,
    TransportSpec,
)
from servers.data_governance.seed import SEED, CustomerRow, generate
from servers.data_governance.server import SEED_VARIABLE

IDENTITIES: dict[str, Any] = {
    "admin": {"role": "admin", "permissions": ["pii:read"]},
    "analyst": {"role": "analyst", "permissions": []},
    "writer": {"role": "analyst", "permissions": ["customers:write"]},
    "user": {"role": "user", "permissions": []},
    "no_role": {"role": None, "permissions": ["pii:read"]},
}


def probed(seed: int, folder: Path, *, customers: int = 2, damaged: bool = True) -> ProbeReport:
    """Return the probe's report on the server with the data of ``seed``.

    Its log goes below ``folder``.
    """
    cases = suite_of(seed, folder, customers)
    server = ServerSpec(
        name="data_governance",
        transport=TransportSpec(
            command=sys.executable,
            args=("-m", "servers.data_governance"),
            cwd=str(builtin_root()),
            env={SEED_VARIABLE: str(seed)},
        ),
    )
    plan = ProbePlan(server=server, callers=name_callers(cases), cases=cases, damaged=damaged)
    return anyio.run(run_probe, plan, folder).report


def suite_of(seed: int, folder: Path, customers: int) -> tuple[Case, ...]:
    """Return a suite that asks for the data of ``customers`` people with every kind of call.

    ``seed`` is the seed of those data.
    """
    calls = [call for row in chosen(seed, customers) for call in calls_on(row)]
    tests = [
        {
            "name": f"call_{number}",
            "prompt": "-",
            "tool": {"tool": tool, "args": arguments},
            "expect": expect,
        }
        for number, (tool, arguments, expect) in enumerate(calls)
    ]
    document = {
        "suite": "other_data",
        "server": "data_governance",
        "identities": IDENTITIES,
        "defaults": {"as": [*IDENTITIES, "anonymous"]},
        "tests": tests,
    }
    path = folder / f"other_data_{seed}.yml"
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return read_suite(path, VOCABULARY).cases


def chosen(seed: int, customers: int) -> list[CustomerRow]:
    """Return some customers of the data of ``seed``; they differ between seeds."""
    rows = generate(seed).customers
    return [rows[(seed * 31 + place * 97) % len(rows)] for place in range(customers)]


_KNOWN = {"admin": "allowed", "analyst": "allowed", "writer": "allowed", "user": "allowed"}
_UNKNOWN = {"no_role": "denied", "anonymous": "denied"}
_PERSONAL = {
    "admin": "allowed",
    **dict.fromkeys(("analyst", "writer", "user"), "denied"),
    **_UNKNOWN,
}
_LISTED = {
    "admin": "allowed",
    **{
        name: {"decision": "filtered", "without": ["email", "phone"]}
        for name in ("analyst", "writer", "user")
    },
    **_UNKNOWN,
}


def calls_on(row: CustomerRow) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Yield calls about a customer: tool, arguments, and the right outcome for each identity."""
    customer_id, name, email, phone, _, city, *_, segment, status, _ = row
    yield "get_customer_details", {"customer_id": customer_id, "include_pii": True}, _PERSONAL
    yield "get_customer_details", {"customer_id": customer_id}, {**_KNOWN, **_UNKNOWN}
    yield "search_customers", {"name": name.split()[-1], "limit": 50}, _LISTED
    yield "search_customers", {"city": city, "segment": segment, "status": status}, _LISTED
    yield "search_customers", {"email": email}, _PERSONAL
    yield "search_customers", {"phone": phone[-8:]}, _PERSONAL
    yield "get_customer_purchase_history", {"customer_id": customer_id}, {**_KNOWN, **_UNKNOWN}
    yield "search_orders", {"customer_id": customer_id}, {**_KNOWN, **_UNKNOWN}


def main() -> int:
    """Try the requested number of seeds; return 1 if there is a false alarm."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.proofs.false_alarms", description=__doc__
    )
    parser.add_argument("--seeds", type=int, default=100, help="how many; default 100")
    parser.add_argument(
        "--first", type=int, default=SEED + 1, help="the first seed; default %(default)s"
    )
    options = parser.parse_args()
    began, asked, alarms = time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.first, options.first + options.seeds):
            report = probed(seed, Path(folder))
            asked += len(report.report.results)
            for finding in report.findings:
                alarms += 1
                print(f"seed {seed}: {finding.problem}: {finding.words}", flush=True)
            for call in (*report.lost, *report.silent):
                alarms += 1
                print(f"seed {seed}: not judged: {call}", flush=True)
    seconds = time.monotonic() - began
    print(f"{options.seeds} seeds, {asked} calls judged, {alarms} false alarms ({seconds:.0f} s)")
    return 1 if alarms else 0


if __name__ == "__main__":
    sys.exit(main())
