"""Settings written as TOML are read as the same settings."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agents.toml_text import format_toml

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=8,
)


@given(st.dictionaries(TEXTS, VALUES))
def test_what_is_written_is_read_again(settings: dict[str, Any]) -> None:
    assert tomllib.loads(format_toml(settings)) == settings


def test_what_toml_cannot_say_is_named() -> None:
    with pytest.raises(ValueError, match="approval: TOML has no form of null"):
        format_toml({"a": {"approval": None}})
