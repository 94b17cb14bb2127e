"""The clinic with a fault is found out, and the sound clinic is not suspected."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from tests.end_to_end.warm import warm_python
from tests.proofs.planted.faults import FAULTS
from tests.proofs.planted.measure import asked, found, probed, way_of
from tests.proofs.planted.silent import NOT_MEASURED, SILENT

VERIFIER = (
    "no_signature_check",
    "alg_none",
    "signature_cut_off",
    "hmac_with_public_key",
    "embedded_key",
    "embedded_certificate",
    "key_address",
    "certificate_address",
    "key_path",
    "any_key",
    "expiry_ignored",
    "quarter_of_an_hour",
    "not_before_ignored",
    "audience_ignored",
    "audience_prefix",
    "audience_optional",
    "audience_list_unchecked",
    "issuer_ignored",
    "issuer_optional",
    "issuer_prefix",
)
"""Twenty flaws of a verifier, each in the place of one check."""
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


@pytest.mark.slow
@pytest.mark.parametrize("name", VERIFIER)
def test_each_of_twenty_flaws_of_a_verifier_is_found(name: str, tmp_path: Path) -> None:
    report = probed(name, tmp_path, python=warm_python(), damaged=False, suite=asked(("a_record",)))
    assert set(found(report).problems) == {"token_accepted"}


@pytest.mark.slow
def test_a_strict_verifier_accepts_no_flawed_token(tmp_path: Path) -> None:
    suite = asked(("a_record",))
    report = probed(None, tmp_path, python=warm_python(), suite=suite, transport="http")
    assert (report.findings, "accepted" in report.tokens.values()) == ((), False)


def test_there_are_more_than_a_hundred_faults_and_a_reason_for_each_silent_one() -> None:
    assert len(FAULTS) > 250
    assert SILENT.keys() | NOT_MEASURED <= FAULTS.keys()
    assert all(fault.words.endswith(".") for fault in FAULTS.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", LOUD[::31])
def test_one_fault_of_the_clinic_in_thirty_is_found(name: str, tmp_path: Path) -> None:
    one = found(probed(name, tmp_path, python=warm_python(), **way_of(FAULTS[name])))
    assert one.problems or one.notes


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in LOUD if name.startswith(("resource", "prompt"))])
def test_a_fault_beside_the_tools_is_found_over_http_as_over_stdio(
    name: str, tmp_path: Path
) -> None:
    way = way_of(FAULTS[name])
    told = [
        found(probed(name, tmp_path / over, python=warm_python(), transport=over, **way)).problems
        for over in _OVER
    ]
    assert told[0] == told[1] != ()


_OVER: tuple[Literal["stdio", "http"], ...] = ("stdio", "http")
