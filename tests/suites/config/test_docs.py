"""The page on models and servers says what is true."""

import re
from pathlib import Path

import pytest

from harness.models.model import list_built_in_providers
from harness.suites.config import load_config

PAGE = (Path(__file__).parents[3] / "docs" / "models.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
VARIABLES = {"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "b", "GATEWAY_KEY": "c", "SHOP_TOKEN": "d"}


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_is_a_configuration_that_can_be_used(example: str, tmp_path: Path) -> None:
    (tmp_path / "harness.yml").write_text(example, encoding="utf-8")
    config = load_config(tmp_path, VARIABLES)
    assert [str(model.error) for model in config.list_models() if model.error] == []
    if "servers:" in example:
        assert config.resolve_server("shop", "any").transport.command


def test_every_name_and_variable_is_told_with_what_it_stands_for() -> None:
    services = [traits.service for traits in list_built_in_providers().values() if traits.service]
    assert len(services) > 1
    for service in services:
        assert f"| `{service.key_variable}` | `{service.base_url_variable}` |" in PAGE
        for name in service.well_known:
            model_id, note = service.api_id(name)
            row = rf"^\|[^|]*`{re.escape(name)}`[^|]*\| `{model_id}` \|"
            assert not note or re.search(row, PAGE, re.MULTILINE), name
