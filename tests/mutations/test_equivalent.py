"""The list of mistakes that change nothing speaks of the code as it is."""

from __future__ import annotations

from pathlib import Path

from tests.mutations.equivalent import EQUIVALENT
from tests.mutations.mutants import mutants_of


def test_every_mistake_that_is_said_to_change_nothing_can_still_be_made() -> None:
    paths = {name.partition(" ")[0] for name in EQUIVALENT}
    made = {mutant.name for path in paths for mutant in mutants_of(Path(path))}
    assert EQUIVALENT.keys() - made == set(), "gone since: take them out of the list"
