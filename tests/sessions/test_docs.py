"""The documentation page on identity is true."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from harness.api import load_suite
from harness.sessions import DELIVERIES
from harness.sessions.identity.bearer import PLACEHOLDERS
from harness.suites.config import load_config
from harness.types import RESERVED_CLAIMS, USER_CONTEXT_META_KEY, Credential

PAGE = (Path(__file__).parents[2] / "docs" / "identity.md").read_text(encoding="utf-8")
EXAMPLES: list[dict[str, Any]] = [
    yaml.safe_load(example)
    for example in re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
]


@pytest.mark.parametrize("example", [example for example in EXAMPLES if "suite" not in example])
def test_every_example_of_a_server_can_be_used(example: dict[str, Any], tmp_path: Path) -> None:
    servers = example.get("servers") or {"crm": {"url": "http://127.0.0.1:8000/mcp", **example}}
    (tmp_path / "harness.yml").write_text(yaml.safe_dump({"servers": servers}), encoding="utf-8")
    config = load_config(tmp_path, {})
    assert all(
        config.resolve_server(name, "any").identity.via in DELIVERIES.list_names()
        for name in servers
    )


def test_the_example_of_a_suite_is_one(tmp_path: Path) -> None:
    (suite,) = (example for example in EXAMPLES if "suite" in example)
    (tmp_path / "door.yml").write_text(yaml.safe_dump(suite), encoding="utf-8")
    shown = {case.caller.credential for case in load_suite(tmp_path / "door.yml").cases}
    assert shown == {"none", "expired", "wrong_audience", "bad_signature"}


def test_every_way_credential_setting_and_placeholder_stands_on_the_page() -> None:
    for via in DELIVERIES.list_names():
        assert re.search(rf"^\| `(\{{via: )?{via}\b", PAGE, re.MULTILINE), via
    for credential in get_args(Credential):
        assert re.search(rf"^\| `{credential}`", PAGE, re.MULTILINE), credential
    for setting in DELIVERIES.get("bearer").fields:
        assert re.search(rf"^\|[^|]*`{setting}`", PAGE, re.MULTILINE), setting
    for name, variable in PLACEHOLDERS.items():
        assert f"`{{{name}}}`" in PAGE
        assert f"`{variable}`" in PAGE
    for claim in RESERVED_CLAIMS:
        assert f"`{claim}`" in PAGE
    assert f"`{USER_CONTEXT_META_KEY}`" in PAGE
