"""Forms that ask for a secret, by the name, the title, the description or the format of a field."""

from __future__ import annotations

from typing import Any

import pytest

from harness.base import find_secret_fields

TEXT = {"type": "string"}


def find(field: dict[str, Any], name: str = "value", message: str = "") -> list[str]:
    return [*find_secret_fields({"type": "object", "properties": {name: field}}, message)]


@pytest.mark.parametrize(
    ("field", "name", "message"),
    [
        (TEXT, "password", ""),
        (TEXT, "one_time_code", ""),
        ({"type": "integer"}, "pin", ""),
        ({**TEXT, "title": "GitHub token"}, "value", ""),
        ({**TEXT, "description": "Your API key."}, "value", ""),
        ({**TEXT, "format": "password"}, "value", ""),
        (TEXT, "value", "Delete C2? Type your account password to go on."),
    ],
)
def test_a_field_that_asks_for_a_secret_is_found(
    field: dict[str, Any], name: str, message: str
) -> None:
    assert find(field, name, message) == [name]


@pytest.mark.parametrize(
    ("field", "name", "message"),
    [
        ({"type": "boolean", "title": "Reset the password"}, "confirm", ""),
        ({"type": "integer"}, "max_tokens", ""),
        (TEXT, "reason", "Type CUST_00042 to reset the password of this customer."),
        ({**TEXT, "enum": ["password", "key"]}, "method", ""),
        ({"type": "boolean"}, "confirm", "Enter your password."),
    ],
)
def test_a_field_that_only_speaks_of_one_is_not(
    field: dict[str, Any], name: str, message: str
) -> None:
    assert find(field, name, message) == []
