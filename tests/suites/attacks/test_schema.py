"""The JSON Schema of files of attacks says what their reader says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from harness.base import read_document
from harness.base.errors import InvalidInput
from harness.suites.attacks.reading import PACK, read_attacks_file
from harness.suites.schema import ATTACK_SCHEMA_FILE, build_attack_schema, format_attack_schema

VALIDATOR = Draft202012Validator(build_attack_schema())
GOOD: dict[str, Any] = {
    "goal": {"state": {"tool": "list", "args": {"a": 1}}, "shows": "{code}", "order": "do it"},
    "on": "get_*",
    "planted_by": ["clerk"],
    "reads": ["read_board", {"tool": "read_all", "args": None}],
    "outward": ["send_mail"],
    "answer_seen": True,
    "seed": 3,
    "x-note": "ours",
    "attacks": [
        "standard",
        {"payload": ["{order:first}", "{order:second}"], "field": "city", "name": "split"},
        {"payload": "{order}", "technique": "authority", "place": "error", "goal": None},
    ],
}
BAD: dict[str, Any] = {
    "at the top": {**GOOD, "outwards": []},
    "in an attack": {"attacks": [{"payload": "x", "techniqe": "authority"}]},
    "in a goal": {"attacks": [{"payload": "x", "goal": {"calls": "y"}}]},
    "in a call": {**GOOD, "reads": [{"tool": "x", "arg": {}}]},
    "a place that there is not": {"attacks": [{"payload": "x", "place": "moon"}]},
    "no payload": {"attacks": [{"name": "x"}]},
    "no attacks": {"on": "x"},
}


def read(content: Any, folder: Path) -> None:
    path = folder / "attacks.yml"
    path.write_text(json.dumps(content), "utf-8")
    read_attacks_file(path)


def test_the_shipped_schema_is_that_of_the_reader() -> None:
    shipped = ATTACK_SCHEMA_FILE.read_text("utf-8")
    assert shipped == format_attack_schema(), "write it anew: python -m tests.suites.write_schema"
    Draft202012Validator.check_schema(json.loads(shipped))


def test_the_built_in_pack_and_a_file_with_every_key_pass_both(tmp_path: Path) -> None:
    VALIDATOR.validate(read_document(PACK).value)
    VALIDATOR.validate(GOOD)
    read(GOOD, tmp_path)


@pytest.mark.parametrize("content", BAD.values(), ids=list(BAD))
def test_a_misspelt_key_passes_neither(content: Any, tmp_path: Path) -> None:
    assert not VALIDATOR.is_valid(content)
    with pytest.raises(InvalidInput):
        read(content, tmp_path)
