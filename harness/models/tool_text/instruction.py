"""An instruction to a model, in a text."""

from __future__ import annotations

from typing import NamedTuple


class Instruction(NamedTuple):
    """A verb that the user orders to be carried out."""

    verb: str
    """The verb, in lower case."""
    start: int
    """Where it stands in the prompt."""
    objects: tuple[str, ...]
    """The next few words; ``¤`` stands for data."""
