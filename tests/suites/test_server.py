from pathlib import Path

import pytest

from harness.types import (
    GuardRails,
    IdentitySpec,
    Location,
    ServerSpec,
    TransportSpec,
)
from tests.suites.files import TESTS, problems, read, refusal


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def server(folder: Path, text: str) -> ServerSpec | str | tuple[str, ...] | None:
    return read(folder, f"suite: shop\nserver: {text}\n{TESTS}").server


def identity(folder: Path, text: str) -> IdentitySpec:
    found = server(folder, f"{{command: x, identity: {text}}}")
    assert isinstance(found, ServerSpec)
    return found.identity


def said(folder: Path, text: str) -> list[str]:
    return problems(folder, f"suite: shop\nserver: {text}\n{TESTS}")


def test_a_server_can_be_named(folder: Path) -> None:
    assert server(folder, "warehouse") == "warehouse"


def test_a_command_is_enough_and_the_server_is_called_like_its_suite(folder: Path) -> None:
    assert server(folder, "{command: python}") == ServerSpec(
        name="shop",
        transport=TransportSpec(command="python"),
        at=Location(file="shop.yml", line=2, column=9),
    )


def test_everything_about_a_server_is_read_and_nothing_is_expanded(folder: Path) -> None:
    text = """
      command: ${PYTHON:-python}
      args: [server.py, "", "--port", "8080"]
      env: {TOKEN: "${TOKEN}", EMPTY: ""}
      cwd: servers/shop
      protocol: 2026-07-28
      identity: bearer
      isolation: case
      start_timeout: 5
      call_timeout: 2.5
      read_only: true
      block: [drop_table]
    """
    assert server(folder, text) == ServerSpec(
        name="shop",
        transport=TransportSpec(
            command="${PYTHON:-python}",
            args=("server.py", "", "--port", "8080"),
            env={"TOKEN": "${TOKEN}", "EMPTY": ""},
            cwd="servers/shop",
            protocol="2026-07-28",
        ),
        identity=IdentitySpec(via="bearer"),
        isolation="case",
        start_timeout_s=5.0,
        call_timeout_s=2.5,
        guard=GuardRails(read_only=True, block=("drop_table",)),
        at=Location(file="shop.yml", line=2, column=1),
    )


@pytest.mark.parametrize(
    ("text", "transport", "url"),
    [
        ("{command: x}", "stdio", None),
        ("{command: x, type: stdio}", "stdio", None),
        ("{command: x, type: http}", "http", None),
        ("{command: x, transport: streamable-http}", "http", None),
        ("{command: x, type: streamableHttp, transport: http}", "http", None),
        ("{command: x, type: sse}", "sse", None),
        ("{command: x, url: 'http://127.0.0.1:{port}/x'}", "http", "http://127.0.0.1:{port}/x"),
        ("{url: https://example.com/mcp, headers: {A: b}}", "http", "https://example.com/mcp"),
        ("{url: https://example.com/sse}", "sse", "https://example.com/sse"),
        ("{url: https://example.com/sse, type: http}", "http", "https://example.com/sse"),
        ("{url: '${SHOP_URL}'}", "http", "${SHOP_URL}"),
    ],
)
def test_every_way_to_reach_a_server_is_read(
    folder: Path, text: str, transport: str, url: str | None
) -> None:
    found = server(folder, text)
    assert isinstance(found, ServerSpec)
    assert (found.transport.kind, found.transport.url) == (transport, url)


def test_every_way_of_telling_who_asks_is_read(folder: Path) -> None:
    assert identity(folder, "meta") == IdentitySpec()
    assert identity(folder, "{}") == IdentitySpec()
    assert identity(folder, "{via: env, json_variable: USER_JSON}") == IdentitySpec(
        via="env", plain={"json_variable": "USER_JSON"}
    )
    assert identity(folder, "{via: env, variables: {ROLE: '{role}'}}") == IdentitySpec(
        via="env", settings={"variables": {"ROLE": "{role}"}}
    )
    assert identity(folder, "{via: header, headers: {X-Role: '{role}'}}") == IdentitySpec(
        via="header", settings={"headers": {"X-Role": "{role}"}}
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("5", "2:9: server: expected text, found 5."),
        ("[]", "2:9: server: there are no servers."),
        ("[1]", "2:9: server: expected text, found 1."),
        ("{}", "2:9: the server has neither 'command' nor 'url'."),
        ("{command: [python]}", "2:19: command: expected text, found a list."),
        (
            "{command: x, args: y}",
            "2:28: args: expected a list (lines that begin with '- '), found \"y\".",
        ),
        ("{command: x, args: [y, 5]}", "2:32: args: expected text."),
        (
            '{command: x, args: ["a\\0"]}',
            "2:29: args: a text for a process must not contain a NUL character.",
        ),
        ("{command: x, env: {A: 1}}", "2:31: env: expected text."),
        ("{command: x, read_only: yes}", '2:33: read_only: expected true or false, found "yes".'),
        (
            "{command: x, protocol: 2025-11-25}",
            '2:32: protocol: expected one of auto, legacy, 2026-07-28; found "2025-11-25".',
        ),
        (
            "{command: x, isolation: cas}",
            '2:33: isolation: expected one of identity, case, none; found "cas".',
        ),
        (
            "{command: x, isolation: none, identity: {via: env, variables: {R: '{r}'}}}",
            "2:33: isolation 'none' needs identity 'meta', and this is 'env'.",
        ),
        ("{command: x, url: y}", "2:27: url: expected a URL that begins with http:// or https://."),
        ("{url: 'http://'}", "2:15: url: this URL names no host."),
        ("{url: 'http://h:x/'}", "2:15: url: the host or port of this URL cannot be read."),
        ("{url: 'http://h/a b'}", "2:15: url: expected a URL."),
        ("{url: http://h/mcp, type: stdio}", "2:10: 'url' has no effect on a server over stdio."),
        (
            "{url: http://h/mcp, args: [x]}",
            "2:29: 'args' has no effect on a server that is already running.",
        ),
        ("{url: 'http://h:{port}/mcp'}", "2:10: only a server that harness starts has a {port}."),
        ("{command: x, headers: {A: b}}", "2:22: 'headers' has no effect on a server over stdio."),
        (
            "{command: x, type: htp}",
            "2:28: type: expected one of http, sse, stdio.",
        ),
        (
            "{command: x, type: http, transport: sse}",
            "2:34: 'type' and 'transport' mean the same, but differ here.",
        ),
        (
            "{url: http://h/mcp, headers: {Host: h}}",
            "2:39: the header 'Host' cannot be sent: harness itself sets this header.",
        ),
        ("{command: x, identity: 5}", "2:32: identity: expected text, found 5."),
        (
            "{command: x, identity: jwt}",
            '2:32: via: expected one of meta, bearer, env, header, oauth, query; found "jwt".',
        ),
        ("{command: x, identity: env}", "2:32: identity via env names no variable."),
        ("{command: x, identity: header}", "2:32: identity via header names no header."),
        (
            "{command: x, identity: {headers: {A: b}}}",
            "2:33: 'headers' has no effect on identity via meta.",
        ),
        (
            "{command: x, identity: {via: header, headers: {A: b}, json_variable: X}}",
            "2:63: 'json_variable' has no effect on identity via header.",
        ),
        (
            "{command: x, identity: {via: heeder, headers: {A: b}}}",
            '2:38: via: expected one of meta, bearer, env, header, oauth, query; found "heeder".',
        ),
        (
            "{command: x, identity: {vai: env}}",
            "2:33: unknown key 'vai' in identity of the server.",
        ),
    ],
)
def test_a_server_that_cannot_be_started_as_written_is_refused(
    folder: Path, text: str, problem: str
) -> None:
    assert said(folder, text) == [problem]


@pytest.mark.parametrize(
    "text", ["{command: x, env: {TOKEN: 271828}}", "{command: x, args: [271828]}"]
)
def test_what_may_be_a_secret_is_not_shown(folder: Path, text: str) -> None:
    assert "271828" not in str(refusal(folder, f"suite: shop\nserver: {text}\n{TESTS}"))


@pytest.mark.parametrize(
    ("text", "everything", "names"),
    [
        ("true", True, []),
        ("false", False, []),
        ("[]", False, []),
        ("[git_push, {tool: later, allow_absent: true}]", False, ["git_push", "later"]),
    ],
)
def test_a_suite_may_allow_harness_to_change_something(
    folder: Path, text: str, everything: bool, names: list[str]
) -> None:
    guard = read(folder, f"suite: shop\nallow_writes: {text}\n{TESTS}").guard
    assert guard.allow_writes == everything
    assert [named.tool for named in guard.allowed] == names
    assert all(named.at is not None and named.at.line == 2 for named in guard.allowed)


@pytest.mark.parametrize("text", ["git_push", "1", "{git_push: true}", "[1]", "[{tool: x, y: 1}]"])
def test_what_allows_nothing_that_is_known_is_refused_with_its_place(
    folder: Path, text: str
) -> None:
    (problem,) = problems(folder, f"suite: shop\nallow_writes: {text}\n{TESTS}")
    assert problem.startswith("2:1")


def test_only_a_suite_allows_changes_and_no_entry_of_a_server(folder: Path) -> None:
    assert "allow_writes" in said(folder, "{command: x, allow_writes: true}")[0]
