from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.documents.syntax import without_comments
from harness.base.errors import InvalidInput, UsageError
from harness.base.redaction import KNOWN
from harness.suites.config import Config, load_config
from harness.suites.config.client_configs import input_variable
from harness.types import ServerSpec


def config(folder: Path, text: str, name: str = ".mcp.json", **environ: str) -> Config:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return load_config(folder, environ, name)


def server(
    folder: Path, entry: dict[str, Any], section: str = "mcpServers", **environ: str
) -> ServerSpec:
    return config(folder, json.dumps({section: {"shop": entry}}), **environ).resolve_server(
        "shop", "suite"
    )


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
    assert (spec.name, spec.transport.command, spec.transport.args, spec.transport.env) == (
        "shop",
        "python",
        ("-m", "shop", "eu"),
        {"TOKEN": "s3cret"},
    )
    assert spec.transport.cwd == str(tmp_path)


@pytest.mark.parametrize("protocol", ["auto", "legacy", "2026-07-28"])
def test_an_entry_may_say_which_revision_its_server_speaks(tmp_path: Path, protocol: str) -> None:
    spec = server(tmp_path, {"command": "shop", "protocol": protocol})
    assert spec.transport.protocol == protocol


def test_an_unknown_revision_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"\.mcp\.json:1:.*protocol.*2020"):
        server(tmp_path, {"command": "shop", "protocol": "2020"})


def test_the_command_lines_revision_goes_before_that_of_every_server(tmp_path: Path) -> None:
    entry = {"shop": {"command": "shop", "protocol": "2026-07-28"}}
    text = json.dumps({"mcpServers": {**entry, "b": {"url": "http://b/"}}})
    (tmp_path / "mcp.json").write_text(text)
    read = load_config(tmp_path, {"PATH": "/bin"}, "mcp.json", "legacy")
    servers = [
        *read.resolve_server(("shop", "b"), "suite").members,
        read.server_option("http://elsewhere.example/mcp"),
        read.server_option("python x.py"),
        read.resolve_server("memory", "suite"),
        read.resolve_server(ServerSpec(name="own"), "suite"),
    ]
    assert [one.transport.protocol for one in servers] == ["legacy"] * 6


def test_a_server_that_runs_already_is_reached_by_its_url_and_headers(tmp_path: Path) -> None:
    entry = {
        "type": "http",
        "url": "https://example.com/mcp",
        "headers": {"Authorization": "Bearer ${TOKEN}"},
    }
    spec = server(tmp_path, entry, TOKEN="abc")
    assert (spec.transport.kind, spec.transport.url) == ("http", "https://example.com/mcp")
    assert spec.transport.headers == {"Authorization": "Bearer abc"}


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
    spec = config(tmp_path, text, ".vscode/mcp.json", API_KEY="k", SHOP_HOST="h").resolve_server(
        "shop", "suite"
    )
    assert spec.transport.args == (f"{tmp_path}/shop.js", "// no comment")
    assert spec.transport.env == {"KEY": "k", "HOST": "h"}


@pytest.mark.parametrize("reference", ["${TOKEN}", "${env:TOKEN}", "${input:token}"])
def test_a_variable_that_is_not_set_is_an_error_with_its_line(
    tmp_path: Path, reference: str
) -> None:
    text = (
        f'{{"mcpServers": {{"shop": {{\n  "command": "python",\n  "env": {{"T": '
        f'"{reference}"}}\n}}}}}}'
    )
    with pytest.raises(InvalidInput, match="TOKEN is not set") as caught:
        config(tmp_path, text).resolve_server("shop", "suite")
    assert ".mcp.json:3" in str(caught.value)


def test_the_only_server_of_the_file_serves_a_suite_that_names_none(tmp_path: Path) -> None:
    (tmp_path / "harness.yml").write_text("servers: {other: {command: a}, another: {command: b}}")
    found = config(tmp_path, '{"mcpServers": {"shop": {"command": "python"}}}')
    assert found.resolve_server(None, "suite").name == "shop"
    assert found.resolve_server("other", "suite").transport.command == "a"
    assert found.server_option("shop").transport.command == "python"


def test_its_servers_go_before_ours_of_the_same_name(tmp_path: Path) -> None:
    (tmp_path / "harness.yml").write_text("servers: {shop: {command: ours}}")
    assert (
        config(tmp_path, '{"mcpServers": {"shop": {"command": "theirs"}}}')
        .resolve_server("shop", "s")
        .transport.command
        == "theirs"
    )


@pytest.mark.parametrize("switch", ['"disabled": true', '"enabled": false'])
def test_a_server_that_is_switched_off_is_called_disabled_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, switch: str
) -> None:
    monkeypatch.chdir(tmp_path)
    found = config(tmp_path, '{"mcpServers": {\n"shop": {"command": "a", ' + switch + "}}}")
    by_name = r"^the server 'shop' is disabled at \.mcp\.json:2:1"
    with pytest.raises(UsageError, match=by_name):
        found.resolve_server("shop", "suite")
    with pytest.raises(UsageError, match=by_name):
        found.server_options(["shop"])
    at_all = r"^every server in \.mcp\.json is disabled: shop"
    with pytest.raises(UsageError, match=at_all):
        found.resolve_server(None, "suite")
    with pytest.raises(UsageError, match=at_all):
        found.only_server("harness tools")


def test_all_servers_of_the_file_are_meant_where_nobody_names_one(tmp_path: Path) -> None:
    servers = {
        "shop": {"command": "a"},
        "mail": {"command": "b"},
        "off": {"command": "c", "disabled": True},
    }
    found = config(tmp_path, json.dumps({"mcpServers": servers}))
    for spec in (found.resolve_server(None, "suite"), found.only_server("harness tools")):
        assert (spec.name, [member.transport.command for member in spec.members]) == (
            "shop+mail",
            ["a", "b"],
        )
    assert found.resolve_server(None, "mail").transport.command == "b"


def test_several_servers_that_are_named_are_joined_unless_their_names_are_equal(
    tmp_path: Path,
) -> None:
    found = config(tmp_path, '{"mcpServers": {"shop": {"command": "a"}}}', PATH="/usr/bin:/bin")
    spec = found.server_options(["shop", "hr", "shop"])
    assert (spec.name, [member.name for member in spec.members]) == ("shop+hr", ["shop", "hr"])
    with pytest.raises(UsageError, match="two of the servers are named 'server'"):
        found.server_options(["python a/server.py", "python b/server.py"])


def test_an_env_file_is_read_and_what_stands_in_the_entry_goes_before_it(tmp_path: Path) -> None:
    (tmp_path / "shop.env").write_text(
        "# keys\nexport KEY='from $FILE'\nHOST=file # no value\n\nLINES=\"a\\nb\"\n"
    )
    entry = {"command": "a", "envFile": "${workspaceFolder}/shop.env", "env": {"HOST": "${H}"}}
    assert server(tmp_path, entry, H="own").transport.env == {
        "KEY": "from $FILE",
        "HOST": "own",
        "LINES": "a\nb",
    }
    assert (
        server(tmp_path, {**entry, "envFile": "shop.env"}, H="own").transport.env["KEY"]
        == "from $FILE"
    )
    assert (
        server(
            tmp_path, {**entry, "envFile": "${env:PLACE}"}, H="o", PLACE=str(tmp_path / "shop.env")
        ).transport.env["HOST"]
        == "o"
    )


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"command": "a", "envFile": "no.env"}, "server 'shop': envFile: there is no file"),
        ({"command": "a", "envFile": "."}, "server 'shop': envFile: there is no file"),
        ({"command": "a", "envFile": 1}, "server 'shop': envFile: expected a path, found"),
        (
            {"url": "http://x.example/mcp", "envFile": "a.env"},
            "envFile is for a server that is started",
        ),
        (
            {"command": "a", "envFile": "bad.env"},
            "bad.env:2: this line is not a variable.\n    Write NAME=value",
        ),
        ({"command": "a", "envFile": "bad.env"}, "bad.env:3: the value of OPEN has an open quote."),
        (
            {"command": "a", "envFile": "${env:GONE}"},
            "envFile: the environment variable GONE is not set.",
        ),
    ],
)
def test_an_env_file_that_cannot_be_read_is_told_and_its_values_are_not(
    tmp_path: Path, entry: dict[str, Any], words: str
) -> None:
    (tmp_path / "bad.env").write_text("A=1\nsecret-271828\nOPEN='secret-271828\n")
    with pytest.raises(InvalidInput) as caught:
        server(tmp_path, entry)
    assert words in str(caught.value)
    assert "271828" not in str(caught.value)


def test_an_env_file_of_another_server_stands_in_nobodys_way(tmp_path: Path) -> None:
    text = '{"servers": {"shop": {"command": "a"}, "other": {"command": "b", "envFile": "no.env"}}}'
    assert config(tmp_path, text).resolve_server("shop", "suite").transport.command == "a"


def test_an_input_without_a_value_is_told_how_to_give_it(tmp_path: Path) -> None:
    inputs = [
        {"id": "api-key", "type": "promptString", "description": "Key of\nthe shop"},
        {"id": "region", "type": "pickString", "options": ["eu", "us"], "default": "eu"},
    ]
    env = {"KEY": "${input:api-key}", "REGION": "${input:region}", "NAME": "${input:unknown}"}
    text = json.dumps({"inputs": inputs, "servers": {"shop": {"command": "a", "env": env}}})
    with pytest.raises(InvalidInput) as caught:
        config(tmp_path, text).resolve_server("shop", "suite")
    told = str(caught.value)
    assert "API_KEY is not set" in told
    assert "prompt for the input 'api-key' (Key of the shop). harness cannot prompt" in told
    assert "export API_KEY=…" in told
    assert "export UNKNOWN=…" in told
    assert ":-" not in told  # a default has no place in that file
    assert "REGION" not in told
    spec = config(tmp_path, text, API_KEY="k", UNKNOWN="u").resolve_server("shop", "suite")
    assert spec.transport.env == {"KEY": "k", "REGION": "eu", "NAME": "u"}


def test_what_a_client_would_not_show_while_it_is_typed_is_a_secret_whatever_it_is_called(
    tmp_path: Path,
) -> None:
    inputs = [
        {"id": "code-word", "type": "promptString", "password": True},
        {"id": "phrase", "type": "promptString", "password": True, "default": "open sesame"},
        {"id": "region", "type": "promptString"},
    ]
    args = ["${input:code-word}", "${input:phrase}", "${input:region}"]
    text = json.dumps({"inputs": inputs, "servers": {"shop": {"command": "a", "args": args}}})
    config(tmp_path, text, CODE_WORD="swordfish", REGION="north-east").resolve_server(
        "shop", "suite"
    )
    assert (
        KNOWN.redact_text("swordfish, open sesame, north-east")
        == "[redacted], [redacted], north-east"
    )


def test_a_folder_in_place_of_the_file_is_called_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "project" / ".vscode").mkdir(parents=True)
    with pytest.raises(InvalidInput, match=r"project: this is a folder.*\n    Name the file in it"):
        load_config(tmp_path, {}, "project")
    (tmp_path / "project" / ".vscode" / "mcp.json").write_text("{}")
    with pytest.raises(InvalidInput, match=r"Did you mean 'project/\.vscode/mcp\.json'"):
        load_config(tmp_path, {}, "project")
    with pytest.raises(
        InvalidInput, match=r"this is a folder, not a file; \$HARNESS_CONFIG names it"
    ):
        load_config(tmp_path, {"HARNESS_CONFIG": "project"})
    (tmp_path / "harness.yml").mkdir()
    with pytest.raises(
        InvalidInput, match=r"harness\.yml: the file cannot be read: Is a directory"
    ):
        load_config(tmp_path, {})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "this is not a configuration of an MCP client"),
        ("{}", "this is not a configuration of an MCP client"),
        ('{"mcpServers": []}', ".mcp.json:1:2: there are no servers under 'mcpServers'"),
        ('{"servers": null}', ".mcp.json:1:2: there are no servers under 'servers'"),
        ('{"mcpServers": [{"command": "a"}]}', "mcpServers: expected the servers by name, found"),
        ('{"mcpServers": {"a": {}}}', "server 'a' has neither 'command' nor 'url'"),
        ('{"mcpServers": {"a": "python"}}', "server 'a': expected a mapping"),
        ('{"mcpServers": {"a": {"command": ["python"]}}}', "command: expected"),
        ('{"mcpServers": {"a": {"command": "b"}, "a": {"command": "c"}}}', "twice"),
        ('{"mcpServers": ', ".mcp.json:1:16: this is not JSON: expecting value."),
        (
            '{"mcpServers": {"a": {"command": "b"},\n ,}}',
            "this is not JSON: expecting property name"
            if sys.version_info < (3, 13)
            else "this is not JSON: illegal trailing comma",
        ),
        (
            '{"mcpServers": {"a": {"command": b}}}',
            ".mcp.json:1:34: this is not JSON: expecting value.",
        ),
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


FILES = {
    ".gemini/settings.json": (
        {"theme": "dark", "mcpServers": {"shop": {"command": "shop", "env": {"TOKEN": "$TOKEN"}}}},
        {"mcpServers": {"shop": {"httpUrl": "https://s.example.com/mcp", "timeout": 5}}},
    ),
    "mcp_config.json": (
        {"mcpServers": {"shop": {"command": "shop", "env": {"TOKEN": "${env:TOKEN}"}}}},
        {"mcpServers": {"shop": {"serverUrl": "https://s.example.com/mcp"}}},
    ),
    ".zed/settings.json": (
        {
            "context_servers": {
                "shop": {
                    "source": "custom",
                    "command": {"path": "shop", "args": [], "env": {"TOKEN": "${TOKEN}"}},
                }
            }
        },
        {"context_servers": {"shop": {"url": "https://s.example.com/mcp"}}},
    ),
    "opencode.json": (
        {
            "mcp": {
                "shop": {
                    "type": "local",
                    "command": ["shop"],
                    "environment": {"TOKEN": "{env:TOKEN}"},
                    "enabled": True,
                }
            }
        },
        {"mcp": {"shop": {"type": "remote", "url": "https://s.example.com/mcp"}}},
    ),
    ".copilot/mcp-config.json": (
        {
            "mcpServers": {
                "shop": {
                    "type": "local",
                    "command": "shop",
                    "args": [],
                    "env": {"TOKEN": "${TOKEN}"},
                    "tools": ["*"],
                }
            }
        },
        {"mcpServers": {"shop": {"type": "http", "url": "https://s.example.com/mcp"}}},
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_files_of_other_clients_are_read_in_their_own_words(tmp_path: Path, name: str) -> None:
    started, reached = (
        config(tmp_path, json.dumps(content), name, TOKEN="s3cret").resolve_server("shop", "suite")
        for content in FILES[name]
    )
    assert (started.transport.command, started.transport.args) == ("shop", ())
    assert started.transport.env == {"TOKEN": "s3cret"}
    assert started.transport.kind == "stdio"
    assert (reached.transport.kind, reached.transport.url) == ("http", "https://s.example.com/mcp")


CODEX = """
model = "gpt-5"

[mcp_servers.shop]
command = "shop"
args = ["--eu"]
env_vars = ["TOKEN"]
startup_timeout_sec = 120

[mcp_servers.shop.env]
MODE = "test"

[mcp_servers.far]
url = "https://s.example.com/mcp"
bearer_token_env_var = "TOKEN"
http_headers = { X-Region = "eu" }

[mcp_servers.wrong]
command = 7
"""


def test_codex_writes_toml(tmp_path: Path) -> None:
    text = CODEX.partition("[mcp_servers.wrong]")[0]
    read = config(tmp_path, text, ".codex/config.toml", TOKEN="s3cret")
    shop, far = (read.resolve_server(name, "suite") for name in ("shop", "far"))
    assert (shop.transport.command, shop.transport.args) == ("shop", ("--eu",))
    assert shop.transport.env == {"TOKEN": "s3cret", "MODE": "test"}
    assert shop.start_timeout_s == 120
    assert far.transport.headers == {"Authorization": "Bearer s3cret", "X-Region": "eu"}


def test_a_mistake_in_toml_has_the_line_of_its_server(tmp_path: Path) -> None:
    line = CODEX.splitlines().index("[mcp_servers.wrong]") + 1
    with pytest.raises(InvalidInput, match=rf"config.toml:{line}"):
        config(tmp_path, CODEX, ".codex/config.toml")
    with pytest.raises(InvalidInput, match="this is not TOML"):
        config(tmp_path, "[mcp_servers", ".codex/config.toml")


def test_a_project_s_own_file_is_found_and_comes_last(tmp_path: Path) -> None:
    entry = {"mcpServers": {"shop": {"command": "shop"}}}
    (tmp_path / ".mcp.json").write_text(json.dumps(entry))
    found = load_config(tmp_path, {})
    assert found.resolve_server(None, "any").transport.command == "shop"
    assert found.server_option("shop").name == "shop"
    (tmp_path / "harness.yml").write_text("servers: {shop: {command: ours}}\n")
    assert load_config(tmp_path, {}).resolve_server("shop", "any").transport.command == "ours"


def test_a_broken_file_that_nobody_named_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_text("{")
    assert load_config(tmp_path, {}).server_names == ()


def test_all_servers_may_be_given_more_time_to_start(tmp_path: Path) -> None:
    entry = {"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}}}
    (tmp_path / "c.json").write_text(json.dumps(entry))
    given = load_config(tmp_path, {}, "c.json", start_timeout_s=300)
    joined = given.resolve_server(None, "any")
    assert [one.start_timeout_s for one in joined.members] == [300, 300]
    assert given.server_option("python server.py").start_timeout_s == 300
