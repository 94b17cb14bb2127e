"""A disk without room is told in words."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.often import often
from tests.reports.run_logs import write_log

SCRIPT = """
import resource, sys
from pathlib import Path
from harness.base.errors import HarnessError
from harness.reports.build import build_report
from harness.runlog import read_log, reader
reader.MOST_IN_MEMORY = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))  # as good as a full disk
try:
    build_report(read_log(Path(sys.argv[1])))
except HarnessError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("most", "words"), often([(0, "there is no room for the results"), (999, "")])
)
def test_no_room_on_the_disk_is_an_error_in_words(tmp_path: Path, most: int, words: str) -> None:
    log = write_log(tmp_path / "log.jsonl", {f"case {n}": "p" for n in range(900)}).path
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(log), str(most)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.startswith(words), done.stdout
    assert bool(done.stdout) == bool(words), done.stdout
    assert list(tmp_path.iterdir()) == [log]
