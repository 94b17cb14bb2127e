"""The clinic with a fault is found out, and the sound clinic is not suspected."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.planted.faults import FAULTS
from benchmarks.planted.measure import found, probed, way_of
from benchmarks.planted.silent import NOT_MEASURED, SILENT
from tests.end_to_end.warm import warm_python

LOUD = sorted(FAULTS.keys() - SILENT.keys() - NOT_MEASURED)


@pytest.mark.slow
def test_the_sound_clinic_gives_no_finding(tmp_path: Path) -> None:
    report = probed(None, tmp_path, damaged=False, python=warm_python())
    assert (report.findings, report.notes, report.exit_code) == ((), (), 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rotated"])
def test_a_fault_of_the_clinic_is_found(name: str, tmp_path: Path) -> None:
    python = warm_python()
    assert found(probed(name, tmp_path, python=python, **way_of(FAULTS[name]))).by_itself


def test_there_are_more_than_a_hundred_faults_and_a_reason_for_each_silent_one() -> None:
    assert len(FAULTS) > 250
    assert SILENT.keys() | NOT_MEASURED <= FAULTS.keys()
    assert all(fault.words.endswith(".") for fault in FAULTS.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", LOUD[::31])
def test_one_fault_of_the_clinic_in_thirty_is_found(name: str, tmp_path: Path) -> None:
    one = found(probed(name, tmp_path, python=warm_python(), **way_of(FAULTS[name])))
    assert one.problems or one.notes
