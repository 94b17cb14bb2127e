"""Each fault of the newsroom is a hole, and the sound newsrooms have none of them."""

from __future__ import annotations

import pytest

from tests.proofs.gazette.exploits import succeeds
from tests.proofs.gazette.faults import FAULTS, FIRST, SECOND
from tests.proofs.gazette.sound import SOUND


@pytest.mark.parametrize("name", FAULTS)
def test_an_exploit_works_where_its_fault_is_planted_and_only_there(name: str) -> None:
    fault = FAULTS[name]

    assert succeeds(fault, name)
    assert [one for one in ("", *SOUND) if succeeds(fault, one)] == []


def test_the_faults_are_in_two_halves() -> None:
    assert len(FIRST) + len(SECOND) == len(FAULTS) == 55
    assert not FIRST.keys() & SECOND.keys()
