"""How a suite, or a command line, names its server."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.base import builtin_servers, builtin_suites, is_builtin_server
from harness.base.errors import InvalidInput, UsageError
from harness.suites.config import Config, load_config
from harness.suites.config.servers import expand_server, parse_server_command
from harness.types import (
    GuardRails,
    IdentitySpec,
    Location,
    ServerSpec,
    TransportSpec,
)

Configure = Callable[..., Config]

SHOP = """\
servers:
  shop:
    command: python
    args: [server.py, --port, "${PORT:-80}"]
"""


@pytest.fixture
def configure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configure:
    """Return a function that makes the configuration of a ``harness.yml`` with the given text."""
    monkeypatch.chdir(tmp_path)

    def make(text: str = "", **environ: str) -> Config:
        (tmp_path / "harness.yml").write_text(text)
        return load_config(tmp_path, environ)

    return make


def test_every_setting_reaches_the_server(configure: Configure, tmp_path: Path) -> None:
    config = configure(
        """\
servers:
  shop:
    command: ${PYTHON:-python}
    args: [server.py]
    env: {API_KEY: "${SHOP_KEY}"}
    cwd: app
    protocol: legacy
    identity: {via: env, json_variable: WHO, variables: {ROLE: "{role}"}}
    isolation: case
    start_timeout: 5
    call_timeout: 0.5
    read_only: true
    block: [drop_table]
""",
        SHOP_KEY="the-key",
    )
    assert config.resolve_server("shop", "any") == ServerSpec(
        name="shop",
        transport=TransportSpec(
            command="python",
            args=("server.py",),
            env={"API_KEY": "the-key"},
            cwd=str(tmp_path / "app"),
            protocol="legacy",
        ),
        identity=IdentitySpec(
            via="env", settings={"variables": {"ROLE": "{role}"}}, plain={"json_variable": "WHO"}
        ),
        isolation="case",
        start_timeout_s=5.0,
        call_timeout_s=0.5,
        guard=GuardRails(read_only=True, block=("drop_table",)),
        at=Location(file="harness.yml", line=2, column=3),
    )


def test_identity_has_a_short_form(configure: Configure) -> None:
    assert configure(f"{SHOP}    identity: bearer\n").resolve_server(
        "shop", "any"
    ).identity == IdentitySpec(via="bearer")


def test_a_setting_of_identity_without_effect_is_a_mistake(configure: Configure) -> None:
    with pytest.raises(InvalidInput, match="'headers' has no effect on identity via env"):
        configure(f"{SHOP}    identity: {{via: env, headers: {{X: y}}}}\n")


def test_a_server_of_the_project_starts_where_its_file_stands_from_any_folder_below(
    configure: Configure, tmp_path: Path
) -> None:
    configure(SHOP)
    (tmp_path / ".git").mkdir()
    (tmp_path / "evals" / "deep").mkdir(parents=True)
    assert load_config(tmp_path / "evals" / "deep", {}).resolve_server(
        "shop", "any"
    ).transport.cwd == str(tmp_path)


def test_a_server_of_the_user_starts_in_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / ".harness").mkdir()
    (tmp_path / ".harness" / "config.yml").write_text(SHOP)
    project = tmp_path / "project"
    project.mkdir()
    assert (
        load_config(project, {"HOME": str(tmp_path)}).resolve_server("shop", "any").transport.cwd
        is None
    )


def test_a_folder_may_come_from_the_environment(configure: Configure) -> None:
    config = configure(f"{SHOP}    cwd: ${{ROOT}}/app\n", ROOT="/srv")
    assert config.resolve_server("shop", "any").transport.cwd == "/srv/app"


# ── Which one ────────────────────────────────────────────────────────────────────────────────

TWO = f"{SHOP}  bank: {{command: bank-server}}\n"


def test_a_suite_without_server_gets_the_one_of_its_own_name(configure: Configure) -> None:
    assert configure(TWO).resolve_server(None, "bank").transport.command == "bank-server"


@pytest.mark.parametrize("name", builtin_servers())
def test_the_only_configured_server_goes_before_a_built_in_one_of_the_suites_name(
    configure: Configure, name: str
) -> None:
    config = configure(SHOP)
    server = config.resolve_server(None, name, f"evals/{name}.yml")
    assert (server.name, is_builtin_server(server)) == ("shop", False)
    # Whoever writes the built-in one's name means it.
    assert is_builtin_server(config.resolve_server(name, name))


def test_a_built_in_server_is_no_choice_among_several_that_are_configured(
    configure: Configure,
) -> None:
    with pytest.raises(UsageError, match="the suite 'hr' names no server"):
        configure(TWO).resolve_server(None, "hr", "evals/hr.yml")


def test_a_suite_of_ours_and_a_project_without_servers_get_the_built_in_one(
    configure: Configure,
) -> None:
    ours = str(builtin_suites() / "finance.csv")
    for server in (
        configure(SHOP).resolve_server(None, "finance", ours),
        configure("").resolve_server(None, "finance", "evals/finance.csv"),
    ):
        assert is_builtin_server(server)
        assert (server.transport.command, server.transport.args) == (
            sys.executable,
            ("-m", "servers.finance"),
        )


def test_the_only_server_of_the_project_goes_before_those_of_the_home_folder(
    configure: Configure, tmp_path: Path
) -> None:
    (tmp_path / ".harness").mkdir()
    (tmp_path / ".harness" / "config.yml").write_text("servers: {mine: {command: a}}\n")
    config = configure(SHOP, HOME=str(tmp_path))
    assert config.resolve_server(None, "anything").name == "shop"
    assert config.only_server("harness tools").name == "shop"
    assert config.resolve_server(None, "mine").name == "mine"


def test_a_configured_server_goes_before_the_built_in_one_of_that_name(
    configure: Configure,
) -> None:
    config = configure("servers: {data_governance: {command: mine}}\n")
    assert config.resolve_server("data_governance", "any").transport.command == "mine"


def test_a_suite_without_server_gets_the_only_one_that_there_is(configure: Configure) -> None:
    assert configure(SHOP).resolve_server(None, "anything").name == "shop"


def test_a_suite_without_server_among_several_is_told_how_to_name_one(configure: Configure) -> None:
    with pytest.raises(UsageError) as raised:
        configure(TWO).resolve_server(None, "anything")
    message = str(raised.value)
    assert "the suite 'anything' names no server" in message
    assert "server: NAME" in message
    assert "--server" in message
    assert "shop, bank" in message


def test_an_unknown_server_is_answered_with_the_nearest_name(configure: Configure) -> None:
    with pytest.raises(UsageError, match=r"there is no server named 'shp'\s+Did you mean 'shop'\?"):
        configure(TWO).resolve_server("shp", "any")


def test_a_suites_own_server_is_expanded_and_otherwise_left_as_it_is(configure: Configure) -> None:
    spec = ServerSpec(
        name="own", transport=TransportSpec(command="run", env={"K": "${K}"}, cwd="x")
    )
    assert configure("", K="v").resolve_server(spec, "any") == ServerSpec(
        name="own",
        transport=TransportSpec(command="run", env={"K": "v"}, cwd="x"),
    )


# ── References ───────────────────────────────────────────────────────────────────────────────


def test_an_unset_variable_is_an_error_when_the_server_is_used_and_not_before(
    configure: Configure,
) -> None:
    config = configure(f"{SHOP}    env:\n      TOKEN: ${{SHOP_TOKEN}}\n")
    with pytest.raises(
        InvalidInput,
        match=re.escape("harness.yml:6:14: server 'shop': the environment variable SHOP_"),
    ):
        config.resolve_server("shop", "any")


def test_an_unset_variable_of_a_suites_own_server_points_at_that_server() -> None:
    spec = ServerSpec(
        name="own",
        transport=TransportSpec(args=("${A}", "${B}")),
        at=Location(file="evals/own.yml", line=3),
    )
    with pytest.raises(InvalidInput) as raised:
        expand_server(spec, {})
    assert [str(problem.at) for problem in raised.value.problems] == [
        "evals/own.yml:3",
        "evals/own.yml:3",
    ]
    assert "A is not set" in str(raised.value)
    assert "B is not set" in str(raised.value)


def test_identity_templates_keep_their_braces() -> None:
    identity = IdentitySpec(
        via="header", settings={"headers": {"X-Role": "{role}", "X-Key": "${KEY}"}}
    )
    expanded = expand_server(ServerSpec(name="s", identity=identity), {"KEY": "v"})
    assert expanded.identity.settings["headers"] == {"X-Role": "{role}", "X-Key": "v"}


# ── --server ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("command", "name", "words"),
    [
        ("python my_server.py", "my_server", ["python", "my_server.py"]),
        (
            "python -m pkg.server --flag 'a b'",
            "pkg",
            ["python", "-m", "pkg.server", "--flag", "a b"],
        ),
        (
            "npx -y @scope/server-everything stdio",
            "server-everything",
            ["npx", "-y", "@scope/server-everything", "stdio"],
        ),
        (
            "uvx mcp-server-git --repository .",
            "mcp-server-git",
            ["uvx", "mcp-server-git", "--repository", "."],
        ),
        ("./bin/serve secret-argument", "serve", ["./bin/serve", "secret-argument"]),
        ("python", "python", ["python"]),
    ],
)
def test_a_command_line_is_a_server_named_after_what_it_runs(
    command: str, name: str, words: list[str]
) -> None:
    server = parse_server_command(command)
    assert (server.name, [server.transport.command, *server.transport.args]) == (name, words)


@pytest.mark.parametrize("command", ["", "  ", "python 'open"])
def test_a_command_line_that_cannot_be_read_is_an_error(command: str) -> None:
    with pytest.raises(UsageError, match="the server's command"):
        parse_server_command(command)


@pytest.mark.parametrize(
    ("url", "name", "transport"),
    [
        ("http://127.0.0.1:8000/mcp", "127.0.0.1:8000", "http"),
        ("https://shop.example.com/mcp/", "shop.example.com", "http"),
        ("HTTPS://shop.example.com/sse", "shop.example.com", "sse"),
    ],
)
def test_a_url_is_a_server_that_runs(url: str, name: str, transport: str) -> None:
    server = parse_server_command(url)
    assert (server.name, server.transport.url, server.transport.kind, server.transport.command) == (
        name,
        url,
        transport,
        None,
    )


@pytest.mark.parametrize(
    "url", ["ftp://x/mcp", "http://", "http://h:x/", "http://h/mcp more", "ws://h/mcp"]
)
def test_a_url_that_cannot_be_used_is_an_error(url: str) -> None:
    with pytest.raises(UsageError, match="the server's URL cannot be used"):
        parse_server_command(url)


SECRETS = [
    "https://me:S3cr/et-pw@host/mcp",
    "http://me:S3cr#et-pw@host/",
    "http://me:S3cr?t@h/",
    "http://S3cr:℀@h/mcp",
]


@pytest.mark.parametrize("url", SECRETS)
def test_no_part_of_a_password_is_in_the_words_about_a_url_that_cannot_be_read(url: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_server_command(url)
    assert "the host or port of this URL cannot be read" in str(raised.value)
    assert "/, # and ? as %2F, %23 and %3F" in str(raised.value)
    assert "S3cr" not in str(raised.value)


def test_a_url_and_headers_take_variables_and_are_looked_at_once_they_are_known(
    configure: Configure,
) -> None:
    text = "servers:\n  shop:\n    url: ${SHOP}/mcp\n    headers: {X-Key: '${KEY}'}\n"
    spec = configure(text, SHOP="https://shop.example.com", KEY="k").resolve_server("shop", "any")
    assert (spec.transport.url, spec.transport.headers, spec.transport.cwd) == (
        "https://shop.example.com/mcp",
        {"X-Key": "k"},
        None,
    )
    with pytest.raises(InvalidInput) as raised:
        configure(text, SHOP="shop.example.com", KEY="k-271828\n").resolve_server("shop", "any")
    wrong = "its value contains the character U+000A, but only printable Latin-1 is allowed."
    assert [str(problem) for problem in raised.value.problems] == [
        (
            "harness.yml:3:10: server 'shop': url: expected a URL that begins with http:// or "
            "https://."
        ),
        f"harness.yml:4:22: server 'shop': the header 'X-Key' cannot be sent: {wrong}",
    ]
    with pytest.raises(
        InvalidInput,
        match=r"harness\.yml:3:10: server 'shop': the default of SHOP contains another reference",
    ):
        configure("servers:\n  shop:\n    url: ${SHOP:-${OTHER}}\n").resolve_server("shop", "any")


def test_the_option_takes_a_configured_a_built_in_name_or_a_command(configure: Configure) -> None:
    config = configure(SHOP)
    assert config.server_option("shop").name == "shop"
    assert config.server_option("data_governance").name == "data_governance"
    assert config.server_option("python my_server.py").transport.args == ("my_server.py",)
    assert config.server_option(sys.executable).transport.command == sys.executable


def test_one_word_that_is_neither_name_nor_command_is_an_error_with_the_nearest_name(
    configure: Configure,
) -> None:
    with pytest.raises(
        UsageError, match=r"no server or command named 'shopp'\s+Did you mean 'shop'\?"
    ):
        configure(SHOP).server_option("shopp")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "shop.py",
            r'shop\.py is not executable\s+Name its interpreter: --server "python shop\.py"',
        ),
        ("shop.js", r'Name its interpreter: --server "node shop\.js"'),
        ("shop", r"shop is a folder, not a command"),
    ],
)
def test_a_path_that_is_no_command_is_told_as_what_it_is(
    configure: Configure, name: str, words: str
) -> None:
    config = configure()
    Path(name).touch() if "." in name else Path(name).mkdir()
    with pytest.raises(UsageError, match=words):
        config.server_option(name)


def test_a_server_names_its_own_words_for_a_refusal(configure: Configure) -> None:
    config = configure("servers:\n  v: {command: vault, refusals: ['shut', '^E-\\d+']}\n")
    assert config.resolve_server("v", "any").refusals == ("shut", "^E-\\d+")


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("'(?=x)'", "does not work"),
        ("'.*'", "matches every text"),
        ("7", "expected text"),
    ],
)
def test_words_for_a_refusal_that_cannot_work_are_an_error(
    configure: Configure, pattern: str, said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        configure(f"servers:\n  v:\n    command: vault\n    refusals: [{pattern}]\n")
