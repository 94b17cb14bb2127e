"""``identity:`` of a server: its keys are those of the deliveries, and their valid combinations."""

from __future__ import annotations

from typing import Any

from harness.base import DocumentReader, Layout, Steps, choice_field, find_dropped_keys
from harness.sessions import DELIVERIES, delivery_of
from harness.types import IdentitySpec


def identity_layout(via: str | None = None) -> Layout:
    """Return the layout of ``identity:`` as a mapping, with the keys of all deliveries.

    With the name of a delivery, its own keys come before those of the same name, and no other
    package is imported.
    """
    # The first one is that of a server that says nothing of it.
    names = tuple(dict.fromkeys((IdentitySpec().via, *DELIVERIES.list_names())))
    wanted = names if via is None else (*DELIVERIES.built_in_names, via)
    # Of keys with one name, the last one counts.
    known = [DELIVERIES.get(name) for name in dict.fromkeys(wanted)]
    known += [] if via is None else [DELIVERIES.get(via)]
    return Layout(
        fields={
            "via": choice_field("How the user_context is sent to the server.", names),
            **{key: field for delivery in known for key, field in delivery.fields.items()},
        },
        elsewhere={key: advice for one in known for key, advice in one.elsewhere.items()},
    )


def read_identity(
    reading: DocumentReader, path: Steps, value: str | dict[str, Any]
) -> IdentitySpec:
    """Return how identities are sent to the server at ``path``: ``value`` is a name or a mapping.

    ``reading`` collects problems.
    """
    given = value if isinstance(value, dict) else {"via": value}
    via = given.get("via")
    # `read_mapping` reports the unknown name; the default's keys make the rest readable.
    if not isinstance(via, str) or via not in DELIVERIES:
        via = IdentitySpec().via
    values = reading.read_mapping(path, given, identity_layout(via), "identity of the server")
    # Further findings would only follow from the key that is wrong.
    if find_dropped_keys(given, values):
        return IdentitySpec()
    delivery = DELIVERIES.get(via)
    own = {key: values[key] for key in values if key in delivery.fields}
    for key in values.keys() - own.keys() - {"via"}:
        right = next(
            name for name in DELIVERIES.built_in_names if key in DELIVERIES.get(name).fields
        )
        reading.add_key_problem(
            (*path, key),
            f"{key!r} has no effect on identity via {via}.",
            f"Write 'via: {right}', or remove it.",
        )
    identity = IdentitySpec(
        via=via,
        settings={key: part for key, part in own.items() if key not in delivery.plain},
        plain={key: part for key, part in own.items() if key in delivery.plain},
    )
    # Each delivery knows which of its keys go together.
    for wrong, message, advice in delivery_of(identity).find_problems(own.keys()):
        if wrong is None:
            reading.add_problem(path, message, advice)
        else:
            reading.add_key_problem((*path, wrong), message, advice)
    return identity
