"""Where the instructions of a command go: its imports, its dataclasses and its functions.

``python -m benchmarks.profile_start evals --help`` profiles ``harness evals --help``; without
arguments, ``harness --help``. The times are of processor and clock, and only their shares mean
something: ``python -m benchmarks.instructions`` counts what is kept.
"""

from __future__ import annotations

import cProfile
import dataclasses
import io
import pstats
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_MOST = 25
_IMPORT = re.compile(r"import time:\s+(?P<own>\d+) \|\s+(?P<all>\d+) \|\s+(?P<name>\S+)")


def list_imports(arguments: list[str]) -> list[tuple[int, str]]:
    """Return the modules that the command imports, each with its own microseconds."""
    command = [sys.executable, "-X", "importtime", str(Path(sys.executable).with_name("harness"))]
    told = subprocess.run(
        [*command, *arguments], capture_output=True, text=True, check=False
    ).stderr
    found = [(int(line["own"]), line["name"]) for line in _IMPORT.finditer(told)]
    return sorted(found, reverse=True)


def profile_functions(arguments: list[str]) -> tuple[str, float, int]:
    """Return a table of functions, and seconds and number of the dataclasses that were made."""
    standard: Any = dataclasses.dataclass
    spent: list[float] = []

    def timed(cls: type | None = None, /, **options: Any) -> Any:
        if cls is None:
            return lambda cls: timed(cls, **options)
        began = time.process_time()
        made = standard(cls, **options)
        spent.append(time.process_time() - began)
        return made

    dataclasses.dataclass = timed
    sys.argv = ["harness", *arguments]
    profile = cProfile.Profile()
    profile.enable()
    try:
        from harness.cli import main  # imported here: the import is what is profiled

        main()
    except SystemExit:
        pass
    finally:
        profile.disable()
        dataclasses.dataclass = standard
    table = io.StringIO()
    pstats.Stats(profile, stream=table).sort_stats("tottime").print_stats(_MOST)
    return table.getvalue(), sum(spent), len(spent)


def main(arguments: list[str]) -> None:
    """Print the profile of ``harness ARGUMENTS``."""
    command = arguments or ["--help"]
    imports = list_imports(command)
    table, seconds, count = profile_functions(command)
    print(f"{len(imports)} modules, {sum(own for own, _ in imports) / 1e6:.2f} s; the slowest:")
    for own, name in imports[:_MOST]:
        print(f"{own / 1000:8.1f} ms  {name}")
    print(f"{count} dataclasses by the standard decorator's own work, {seconds:.2f} s")
    print(table)


if __name__ == "__main__":
    main(sys.argv[1:])
