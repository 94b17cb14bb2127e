"""Hypothesis strategies shared by the tests of checks."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

SCALARS: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
)
"""JSON scalars."""

JSON: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=10,
)
"""JSON values."""


def _no_operators(value: Any) -> bool:
    if isinstance(value, dict):
        return all(not key.startswith("$") and _no_operators(part) for key, part in value.items())
    return all(map(_no_operators, value)) if isinstance(value, list) else True


PLAIN: st.SearchStrategy[Any] = JSON.filter(_no_operators)
"""JSON values in which no key could be taken for an operator."""
