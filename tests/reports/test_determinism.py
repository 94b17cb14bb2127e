import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.reports.writers import WRITERS
from tests.often import often
from tests.reports.sample_logs import a_hostile_log, an_ordinary_log

SCRIPT = """
import sys
from pathlib import Path
from harness.reports.writers import WRITERS
from harness.reports.build import build_report
from harness.reports.writers import ReportRequest, write_report
from harness.runlog import read_log
log = read_log(Path(sys.argv[1]))
for name in WRITERS.list_names():
    write_report(ReportRequest(format=name, path=Path(sys.argv[2]) / name), build_report(log), log)
"""
SETTINGS = (
    {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "UTC"},
    {"PYTHONHASHSEED": "2", "LC_ALL": "C.UTF-8", "TZ": "Asia/Tokyo"},
    {
        "PYTHONHASHSEED": "3",
        "LC_ALL": "tr_TR.UTF-8",
        "TZ": "America/New_York",
        "PYTHONUTF8": "0",
        "COLUMNS": "40",
    },
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "make", often([an_ordinary_log, lambda folder: a_hostile_log(folder, big=False)])
)
def test_equal_logs_give_equal_bytes_under_any_hash_seed_and_locale(
    tmp_path: Path, make: object
) -> None:
    log = make(tmp_path)  # type: ignore[operator]  # one of the two above
    written: list[dict[str, bytes]] = []
    for number, setting in enumerate(SETTINGS):
        folder = tmp_path / str(number)
        command = [sys.executable, "-c", SCRIPT, str(log.path), str(folder)]
        env = {"PATH": os.environ["PATH"]} | setting
        subprocess.run(command, env=env, check=True, timeout=120, cwd=Path(__file__).parents[2])
        written.append({name: (folder / name).read_bytes() for name in WRITERS.list_names()})
    assert written[0] == written[1] == written[2]
    assert all(written[0].values())
