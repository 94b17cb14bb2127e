"""Changes of nothing: calls that change data, with their objects, lists and texts empty.

A policy may look at what is changed, let a change of nothing pass, and answer with what is stored.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.probing.arguments.argument_change import ArgumentChange
from harness.probing.arguments.ids import names_id
from harness.types import JsonObject


def empty_arguments(arguments: JsonObject) -> Iterator[ArgumentChange]:
    """Yield each argument that is no id, empty or left out."""
    for name, value in arguments.items():
        if isinstance(value, dict | list) and value:
            yield ArgumentChange(
                words=f"an empty {name!r}", changed={name: type(value)()}, same=True
            )
        # An empty id would ask for another record, and be no change of nothing.
        elif isinstance(value, str) and value and not names_id(name):
            yield ArgumentChange(words=f"an empty {name!r}", changed={name: ""}, same=True)
