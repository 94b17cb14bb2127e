"""Can the tests fail? Every rule is broken once, and the samples, and most times the recorded
outputs, show it.
"""

from __future__ import annotations

import pytest

from tests.leaderboards.bfcl.cases import SAMPLES
from tests.leaderboards.bfcl.mutations import MUTATIONS, Mutation
from tests.leaderboards.bfcl.outputs import Output, differing


@pytest.mark.parametrize("mutation", MUTATIONS, ids=[mutation.name for mutation in MUTATIONS])
def test_a_broken_rule_shows_in_the_samples(
    mutation: Mutation, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutation.apply(monkeypatch)
    assert [sample.name for sample in SAMPLES if sample.found() != sample.error_type]


RECORDED = [mutation for mutation in MUTATIONS if mutation.recorded]


@pytest.mark.slow
@pytest.mark.parametrize("mutation", RECORDED, ids=[mutation.name for mutation in RECORDED])
def test_a_broken_rule_shows_in_recorded_outputs(
    mutation: Mutation, outputs: list[Output], monkeypatch: pytest.MonkeyPatch
) -> None:
    mutation.apply(monkeypatch)
    concerned = (
        one for one in outputs if one.category.startswith("multi_turn") == mutation.of_conversations
    )
    assert next(differing(concerned), None) is not None
