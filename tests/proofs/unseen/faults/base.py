"""What a fault is: a firm that gets one thing wrong, and the exploit that shows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Final, Literal, TypeVar

from tests.proofs.unseen.chambers import Chambers

IDENTITIES: Final[Mapping[str, Mapping[str, Any]]] = {
    "partner": {"user": "ada", "role": "partner"},
    "associate": {"user": "ben", "role": "associate", "team": "tax"},
    "paralegal": {
        "user": "cleo",
        "role": "paralegal",
        "team": "shipping",
        "acting_for": "tax",
        "until": "2025-12-31",
    },
    "client": {"user": "dana", "role": "client", "client_id": "CL-22"},
    "auditor": {"user": "eve", "role": "auditor"},
}
"""The identities of the suite."""


@dataclass(frozen=True, slots=True)
class Step:
    """One request of an exploit."""

    who: str | Mapping[str, Any]
    """An identity's name, or its attributes."""
    do: str
    """A tool, ``resource URI``, ``prompt ID``, ``complete START``, ``tools`` or ``token FLAW``."""
    args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Exploit:
    """Requests, and what must come out of them only where the fault is planted."""

    steps: tuple[Step, ...]
    shows: str = ""
    """A text that the last answer has; ``{M-1005.title}`` stands for a value of the data."""
    holds: Callable[[list[str]], bool] | None = None
    """Or: what is true of all answers, each the text of the whole result and what came beside."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault by its name."""

    name: str
    kind: str
    firm: type[Chambers]
    exploit: Exploit
    transport: Literal["meta", "bearer"] = "meta"

    @property
    def what(self) -> str:
        """Return what the firm gets wrong, in one sentence."""
        return (self.firm.__doc__ or "").strip()


_F = TypeVar("_F", bound=type[Chambers])
_ALL: Final[dict[str, Fault]] = {}


def fault(
    kind: str, *steps: Step, shows: str = "", holds: Callable[[list[str]], bool] | None = None
) -> Callable[[_F], _F]:
    """Declare a class as a fault; its name in snake case is the fault's."""

    def declare(firm: _F) -> _F:
        name = "".join("_" + one.lower() if one.isupper() else one for one in firm.__name__)[1:]
        by_token = any(step.do.startswith("token") for step in steps)
        _ALL[name] = Fault(
            name, kind, firm, Exploit(steps, shows, holds), "bearer" if by_token else "meta"
        )
        return firm

    return declare


def faults_of(*modules: ModuleType) -> dict[str, Fault]:
    """Return the faults that these modules declare."""
    names = {module.__name__ for module in modules}
    return {name: one for name, one in _ALL.items() if one.firm.__module__ in names}
