"""Every way to send an identity says all of itself in its own file."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from urllib.parse import parse_qsl

import anyio
import pytest

import harness
from harness.base.errors import UsageError
from harness.sessions.identity.deliveries.query import QueryDelivery
from harness.sessions.identity.delivery import DELIVERIES
from tests.figures import nodes

ROOT = Path(harness.__file__).parent


def comparisons(path: Path) -> Iterator[int]:
    """Yield the lines that compare a ``via``, or choose by one."""
    for node in nodes(path):
        sides: list[ast.expr] = []
        if isinstance(node, ast.Compare) and not is_a_lookup(node):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Match):
            sides = [node.subject]
        names = [getattr(side, "attr", getattr(side, "id", None)) for side in sides]
        yield from (side.lineno for side, name in zip(sides, names, strict=True) if name == "via")


def is_a_lookup(node: ast.Compare) -> bool:
    """Whether a name is only looked for: ``via in DELIVERIES``, ``via is None``."""
    other = node.comparators[-1]
    is_none = isinstance(other, ast.Constant) and other.value is None
    return is_none or (isinstance(other, ast.Name) and other.id == "DELIVERIES")


def test_no_file_but_its_own_asks_which_way_it_is() -> None:
    found = {
        f"{path.relative_to(ROOT)}:{line}"
        for path in ROOT.rglob("*.py")
        if path.parent.name != "deliveries"
        for line in comparisons(path)
    }
    assert found == set()


def test_every_key_of_a_way_is_a_setting_of_it() -> None:
    for name in DELIVERIES.built_in_names:
        delivery = DELIVERIES.get(name)
        settings = {each.name for each in fields(delivery)}
        assert settings == set(delivery.fields), name
        assert delivery.plain | delivery.hidden <= settings, name


def test_parameters_are_encoded_and_a_missing_or_null_attribute_sends_none() -> None:
    delivery = QueryDelivery(
        parameters={"role": "{role}", "who": "{name} & co", "chief": "{chief}", "no": "{nobody}"}
    )
    user = {"role": ["a", "b"], "name": "Zoë=1", "chief": None}
    query = anyio.run(delivery.build_additions, user).query
    assert query.isascii()
    assert parse_qsl(query) == [("role", '["a", "b"]'), ("who", "Zoë=1 & co")]


def test_what_is_no_text_cannot_stand_in_a_url() -> None:
    delivery = QueryDelivery(parameters={"role": "{role}"})
    with pytest.raises(UsageError, match="the parameter 'role' of this user_context cannot be"):
        delivery.check_user({"role": "\ud800"})
