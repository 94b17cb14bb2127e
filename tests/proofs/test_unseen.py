"""Each fault of the law firm's server is a hole, and the firm without it has none."""

from __future__ import annotations

import anyio
import pytest

from tests.proofs.unseen.check import FAULTS
from tests.proofs.unseen.exploits import succeeds


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The logging capability is deprecated")
@pytest.mark.parametrize("name", FAULTS)
def test_an_exploit_works_where_its_fault_is_planted_and_only_there(name: str) -> None:
    async def tried() -> tuple[bool, bool]:
        fault = FAULTS[name]
        return await succeeds(fault, planted=True), await succeeds(fault, planted=False)

    assert anyio.run(tried) == (True, False)
