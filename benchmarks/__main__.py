"""``python -m benchmarks [NAME…]``: print the figures; exit with 1 if a target is missed."""

from __future__ import annotations

import argparse
import os
import platform
import sys

from benchmarks.measures import MEASURES


def main() -> int:
    """Run the requested benchmarks; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="What the harness itself costs."
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"{', '.join(MEASURES)}; none means all"
    )
    parser.add_argument(
        "--rounds", type=int, default=5, help="how often each comparison is made; default 5"
    )
    options = parser.parse_args()
    if unknown := set(options.names) - MEASURES.keys():
        parser.error(f"there is no benchmark named {', '.join(sorted(unknown))}")
    print(
        f"{os.cpu_count()} cores, Python {platform.python_version()}, load "
        f"{os.getloadavg()[0]:.1f}",
        flush=True,
    )
    missed = 0
    for name in options.names or MEASURES:
        finding = MEASURES[name](options.rounds)
        missed += not finding.holds
        print(
            f"\n{name}: {finding.figure} (target {finding.target}: "
            f"{'holds' if finding.holds else 'MISSED'})"
        )
        print("\n".join(f"    {line}" for line in finding.details), flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
