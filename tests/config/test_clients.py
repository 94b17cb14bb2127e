from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.config import Config, load_config
from harness.config.clients import input_variable
from harness.documents.json_comments import without_comments
from harness.errors import InvalidInput, UsageError
from harness.types import ServerSpec


def config(folder: Path, text: str, name: str = ".mcp.json", **environ: str) -> Config:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return load_config(folder, environ, name)


def server(folder: Path, entry: dict[str, Any], section: str = "mcpServers", **environ: str) -> ServerSpec:
    return config(folder, json.dumps({section: {"shop": entry}}), **environ).server("shop", "suite")


def test_servers_of_claude_and_its_like_are_read_with_their_references(tmp_path: Path) -> None:
    entry = {
        "type": "stdio",
        "command": "${PYTHON:-python}",
        "args": ["-m", "shop", "${SHOP}"],
        "env": {"TOKEN": "${TOKEN}"},
        "alwaysAllow": ["read"],
        "timeout": 60000,
    }
    spec = server(tmp_path, entry, SHOP="eu", TOKEN="s3cret")
    assert (spec.name, spec.command, spec.args, spec.env) == (
        "shop",
        "python",
        ("-m", "shop", "eu"),
        {"TOKEN": "s3cret"},
    )
    assert spec.cwd == str(tmp_path)


def test_a_server_that_runs_already_is_reached_by_its_url_and_headers(tmp_path: Path) -> None:
    entry = {"type": "http", "url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}
    spec = server(tmp_path, entry, TOKEN="abc")
    assert (spec.transport, spec.url) == ("http", "https://example.com/mcp")
    assert spec.headers == {"Authorization": "Bearer abc"}


def test_the_file_of_vs_code_is_read_with_comments_inputs_and_folders(tmp_path: Path) -> None:
    text = """{
\t// what we need
\t"inputs": [{"type": "promptString", "id": "api-key", "password": true}],
\t"servers": {
\t\t"shop": {
\t\t\t"type": "stdio", /* ours */ "command": "node",
\t\t\t"args": ["${workspaceFolder}/shop.js", "// no comment"],
\t\t\t"env": {"KEY": "${input:api-key}", "HOST": "${env:SHOP_HOST}"},
\t\t},
\t},
}
"""
    spec = config(tmp_path, text, ".vscode/mcp.json", API_KEY="k", SHOP_HOST="h").server("shop", "suite")
    assert spec.args == (f"{tmp_path}/shop.js", "// no comment")
    assert spec.env == {"KEY": "k", "HOST": "h"}


@pytest.mark.parametrize("reference", ["${TOKEN}", "${env:TOKEN}", "${input:token}"])
def test_a_variable_that_is_not_set_is_an_error_with_its_line(tmp_path: Path, reference: str) -> None:
    text = f'{{"mcpServers": {{"shop": {{\n  "command": "python",\n  "env": {{"T": "{reference}"}}\n}}}}}}'
    with pytest.raises(InvalidInput, match="TOKEN is not set") as caught:
        config(tmp_path, text).server("shop", "suite")
    assert ".mcp.json:3" in str(caught.value)


def test_the_only_server_of_the_file_serves_a_suite_that_names_none(tmp_path: Path) -> None:
    (tmp_path / "harness.yml").write_text("servers: {other: {command: a}, another: {command: b}}")
    found = config(tmp_path, '{"mcpServers": {"shop": {"command": "python"}}}')
    assert found.server(None, "suite").name == "shop"
    assert found.server("other", "suite").command == "a"
    assert found.server_option("shop").command == "python"


def test_its_servers_go_before_ours_of_the_same_name(tmp_path: Path) -> None:
    (tmp_path / "harness.yml").write_text("servers: {shop: {command: ours}}")
    assert config(tmp_path, '{"mcpServers": {"shop": {"command": "theirs"}}}').server("shop", "s").command == "theirs"


def test_a_server_that_is_switched_off_is_not_there(tmp_path: Path) -> None:
    found = config(tmp_path, '{"mcpServers": {"shop": {"command": "a", "disabled": true}}}')
    with pytest.raises(UsageError, match="there is no server named 'shop'"):
        found.server("shop", "suite")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "this is no configuration of an MCP client"),
        ('{"mcpServers": []}', "this is no configuration of an MCP client"),
        ('{"mcpServers": {"a": {}}}', "server 'a' has neither 'command' nor 'url'"),
        ('{"mcpServers": {"a": "python"}}', "server 'a': expected a mapping"),
        ('{"mcpServers": {"a": {"command": ["python"]}}}', "command: expected"),
        ('{"mcpServers": {"a": {"command": "b"}, "a": {"command": "c"}}}', "twice"),
        ('{"mcpServers": ', ".mcp.json:2:1"),
    ],
)
def test_what_cannot_be_read_is_told_in_words(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        config(tmp_path, text)
    assert words in str(caught.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there is no such file"):
        load_config(tmp_path, {}, "nothing.json")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(JSON, st.sampled_from(["// note\n", "/* a\n b */", "\t"]))
def test_comments_vanish_and_no_text_changes(value: Any, comment: str) -> None:
    text = json.dumps(value, indent=1)
    assert without_comments(text) == text
    commented = text.replace("\n", f"{comment}\n")
    assert json.loads(without_comments(commented)) == value
    assert without_comments(commented).count("\n") == commented.count("\n")


def test_an_input_is_asked_for_by_a_variable_that_can_be_set() -> None:
    assert input_variable("api-key.1") == "API_KEY_1"
