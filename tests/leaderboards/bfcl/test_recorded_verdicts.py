from __future__ import annotations

import pytest

from tests.leaderboards.bfcl.outputs import PUBLISHED_WRONGLY, Output, differing


@pytest.mark.slow
def test_every_recorded_output_gets_the_official_verdict_and_error_type(
    outputs: list[Output],
) -> None:
    assert len(outputs) == 5913
    assert [(output.case, output.error_type, output.found()) for output in differing(outputs)] == []


@pytest.mark.slow
def test_the_one_output_that_was_published_wrongly_passes(outputs: list[Output]) -> None:
    (output,) = [output for output in outputs if (output.model, output.case) == PUBLISHED_WRONGLY]
    assert (output.error_type, output.found()) == ("multi_turn:instance_state_mismatch", None)
