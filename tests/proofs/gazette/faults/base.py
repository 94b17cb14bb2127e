"""What a fault is: a newsroom that gets one thing wrong, and the exploit that shows it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Final, TypeVar

from tests.proofs.gazette.newsroom import Newsroom

IDENTITIES: Final[Mapping[str, Mapping[str, Any]]] = {
    "chief": {"role": "chief", "contributor_id": "P-10", "outlet": "north"},
    "editor": {"role": "editor", "contributor_id": "P-11", "outlet": "north"},
    "reporter": {"role": "reporter", "contributor_id": "P-12", "outlet": "north"},
    "freelancer": {"role": "freelancer", "contributor_id": "P-14", "outlet": "north"},
    "sister": {"role": "chief", "contributor_id": "P-20", "outlet": "north-sea"},
}
"""The identities of the suite."""


@dataclass(frozen=True, slots=True)
class Step:
    """One request of an exploit."""

    who: str
    """An identity's name."""
    do: str
    """A tool, ``resource URI``, ``prompt ID`` or ``complete START``."""
    args: Mapping[str, Any] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    """The query of the server's address."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault by its name."""

    name: str
    kind: str
    newsroom: type[Newsroom]
    steps: tuple[Step, ...]
    shows: str = ""
    """A text that the last answer has; ``{S-103.title}`` stands for a value of the data."""
    holds: Callable[[list[str]], bool] | None = None
    """Or: what is true of all answers."""

    @property
    def what(self) -> str:
        """Return what the newsroom gets wrong, in one sentence."""
        return (self.newsroom.__doc__ or "").strip()

    @property
    def over_http(self) -> bool:
        """Return whether the fault shows only over HTTP."""
        return any(step.query for step in self.steps)

    def is_shown(self, newsroom: Newsroom, said: list[str]) -> bool:
        """Return whether the answers of the steps show the fault."""
        if self.holds is not None:
            return self.holds(said)
        records = {**newsroom.archive.stories, **newsroom.archive.people}
        wanted = re.sub(
            r"{([SP]-\d+)\.(\w+)}", lambda found: str(records[found[1]][found[2]]), self.shows
        )
        return wanted in said[-1]


_N = TypeVar("_N", bound=type[Newsroom])
_ALL: Final[dict[str, Fault]] = {}


def fault(
    kind: str, *steps: Step, shows: str = "", holds: Callable[[list[str]], bool] | None = None
) -> Callable[[_N], _N]:
    """Declare a class as a fault; its name in snake case is the fault's."""

    def declare(newsroom: _N) -> _N:
        words = re.findall("[A-Z][a-z0-9]*", newsroom.__name__)
        name = "_".join(words).lower()
        _ALL[name] = Fault(name, kind, newsroom, steps, shows, holds)
        return newsroom

    return declare


def faults_of(*modules: ModuleType) -> dict[str, Fault]:
    """Return the faults that these modules declare."""
    names = {module.__name__ for module in modules}
    return {name: one for name, one in _ALL.items() if one.newsroom.__module__ in names}
