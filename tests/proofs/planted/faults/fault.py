"""What a fault is: a class that replaces a decision, with its sentence as docstring."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

from tests.proofs.planted.clinic import Clinic
from tests.proofs.planted.door import Door


@dataclass(frozen=True)
class Fault:
    """One thing that the server gets wrong."""

    name: str
    """What ``--fault`` takes."""
    group: str
    """The module that it stands in."""
    words: str
    """What is wrong, in one sentence."""
    clinic: type[Clinic] = Clinic
    """Who decides."""
    door: type[Door] = Door
    """Who lets people in; faults of the door, and of sessions, show over HTTP only."""
    http: bool = False
    """Whether it shows over HTTP only."""


def faults_of(module: ModuleType) -> Iterator[Fault]:
    """Yield a fault for each class of ``module`` that replaces something in public."""
    group = module.__name__.rpartition(".")[2]
    for name, made in vars(module).items():
        if name.startswith("_") or not inspect.isclass(made) or made.__module__ != module.__name__:
            continue
        words = (made.__doc__ or "").partition("\n")[0]
        called = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        if issubclass(made, Door):
            yield Fault(called, group, words, door=made, http=True)
        elif issubclass(made, Clinic):
            yield Fault(called, group, words, clinic=made, http=group == "sessions")
