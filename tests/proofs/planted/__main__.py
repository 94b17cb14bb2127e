"""``python -m tests.proofs.planted``: plant each fault, probe, and print what was found.

Names of faults, or of groups, choose some of them. Exits with 1 if a fault passes in silence that
`tests.proofs.planted.silent` gives no reason for.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.proofs.planted.faults import FAULTS
from tests.proofs.planted.measure import found, probed, way_of
from tests.proofs.planted.silent import SILENT


def main() -> int:
    """Measure; return 1 if something passes in silence without a reason."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.planted", description=__doc__)
    parser.add_argument("only", nargs="*", help="faults or groups; default all")
    options = parser.parse_args()
    chosen = [
        fault
        for fault in FAULTS.values()
        if not options.only or {fault.name, fault.group} & set(options.only)
    ]
    began, seen, by_itself, unexplained = time.monotonic(), 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for fault in chosen:
            one = found(probed(fault.name, Path(folder), **way_of(fault)))
            seen += bool(one.problems or one.notes)
            by_itself += one.by_itself
            unexplained += not (one.problems or one.notes or fault.name in SILENT)
            what = ", ".join(one.problems) or ("note" if one.notes else "nothing")
            print(f"{fault.group:12} {fault.name:24} {what:32} {fault.words}", flush=True)
    seconds = time.monotonic() - began
    print(
        f"{len(chosen)} faults, {seen} found, {by_itself} of these without any expectation "
        f"({seconds:.0f} s); {unexplained} pass in silence without a reason"
    )
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
