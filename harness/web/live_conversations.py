"""The messages of running trials, for the live trace; they are dropped when the trial ends.

The log has a trial when it has ended, and only that is shown for good.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Name: TypeAlias = tuple[str, str, str, int]
"""Suite, case, entrant, trial from 1."""


class LiveConversations:
    """The conversations under way of one run."""

    def __init__(self) -> None:
        """Begin with none."""
        self._steps: dict[Name, list[dict[str, Any]]] = {}
        self._keys: dict[str, Name] = {}

    def take_steps(self, said: Mapping[str, Any]) -> None:
        """Take steps from a place on: ``{"key", "trial", "from", "steps"}``."""
        name = parse_trial_name(said["trial"])
        self._keys[said["key"]] = name
        self._steps[name] = [*self._steps.get(name, [])[: said["from"]], *said["steps"]]

    def forget_trial(self, key: str) -> None:
        """Forget the trial with that key."""
        name = self._keys.pop(key, None)
        if name is not None:
            self._steps.pop(name, None)

    def get_steps(self, name: Name) -> list[dict[str, Any]]:
        """Return the steps so far of a trial; none if it has not begun, or has ended."""
        return self._steps.get(name, [])


def parse_trial_name(facts: Mapping[str, Any]) -> Name:
    """Return the name of a trial from ``{suite, case, entrant, trial}``."""
    return str(facts["suite"]), str(facts["case"]), str(facts["entrant"]), int(facts["trial"])
