import os
from pathlib import Path

import pytest

from harness.base.errors import UsageError
from harness.runlog.folders import LATEST, find_log, run_ids


def run(folder: Path, name: str, written_s: int, content: str = '{"kind":"header"}\n') -> None:
    path = folder / name / "log.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(content)
    os.utime(path, (written_s, written_s))


def test_of_two_runs_in_one_second_the_latest_is_the_one_that_was_written_to_last(
    tmp_path: Path,
) -> None:
    run(tmp_path, "20261121T191433Z-two-aaaaaa", 1)
    run(tmp_path, "20261121T191433Z-one-bbbbbb", 2)
    assert find_log(LATEST, tmp_path).parent.name == "20261121T191433Z-one-bbbbbb"


def test_a_run_of_an_earlier_second_stays_earlier_even_if_it_was_resumed_since(
    tmp_path: Path,
) -> None:
    run(tmp_path, "20261121T191433Z-a-aaaaaa", 9)
    run(tmp_path, "20261121T191434Z-a-bbbbbb", 2)
    assert run_ids(tmp_path) == ["20261121T191433Z-a-aaaaaa", "20261121T191434Z-a-bbbbbb"]


@pytest.mark.parametrize("content", ["", '{"run_id": "torn by a full dis'])
def test_a_run_that_never_began_is_not_the_latest(tmp_path: Path, content: str) -> None:
    run(tmp_path, "20261121T191433Z-whole-aaaaaa", 1)
    run(tmp_path, "20261121T191434Z-none-bbbbbb", 2, content)
    assert find_log(LATEST, tmp_path).parent.name == "20261121T191433Z-whole-aaaaaa"


def test_where_no_run_has_begun_there_is_no_latest(tmp_path: Path) -> None:
    run(tmp_path, "20261121T191434Z-none-bbbbbb", 2, "{")
    with pytest.raises(UsageError, match="no latest run"):
        find_log(LATEST, tmp_path)
