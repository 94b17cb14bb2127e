"""Log an account in at a server by OAuth, for later runs."""

from __future__ import annotations

import os
from pathlib import Path

import click

from harness.base import GATE, UsageError, format_count, format_path, make_printable
from harness.cli.options import MCP_CONFIG, PROTOCOL, TRUST, bundle_options, caller_option
from harness.runner import run_alone
from harness.sessions import delivery_of, open_sessions
from harness.suites import load_config
from harness.types import JsonObject, Protocol, ServerSpec, dataclass

LOGIN_START_S = 330.0
"""Seconds from the start of the server to its tools: a person logs in meanwhile, which takes up to
`harness.sessions.identity.browser.LOGIN_S`."""


@dataclass(frozen=True, slots=True)
class LoginAccount:
    """A server, and who logs in there."""

    server: ServerSpec
    user_context: JsonObject


def _find_account(
    server: str,
    mcp_config: str | None,
    protocol: Protocol | None,
    user_context: JsonObject | None,
) -> LoginAccount:
    config = load_config(Path.cwd(), os.environ, mcp_config, protocol, LOGIN_START_S)
    spec = config.server_option(server)
    if not delivery_of(spec.identity).logs_in:
        raise UsageError(
            f"server {spec.name!r} gets identities by {spec.identity.via}, and no login",
            meant="Write 'identity: {via: oauth}' in its entry in harness.yml.",
        )
    GATE.require_plan([spec])
    return LoginAccount(spec, user_context or {"account": "me"})


@click.command("login")
@bundle_options(
    "account",
    _find_account,
    click.argument("server", metavar="SERVER"),
    MCP_CONFIG,
    PROTOCOL,
    TRUST,
    caller_option("Whose login it is, as the cases name them; without it, {account: me}."),
)
@click.option("--no-browser", is_flag=True, help="Only print the address of the page.")
@click.option("--forget", is_flag=True, help="Forget the login, and end.")
def command(account: LoginAccount, *, no_browser: bool, forget: bool) -> None:
    """Log an account in at SERVER, which has 'identity: {via: oauth}'; later runs use the login.

    A page is opened in the browser, and its answer comes back to a port of this machine. The tokens
    are kept in a file that only you can read, one for each account.
    """
    # Loads the SDK, which the help does not need.
    from harness.sessions import Browser, LoginStore, find_login_file

    spec, who = account.server, account.user_context
    delivery, url = delivery_of(spec.identity), spec.transport.url or ""
    path = find_login_file(delivery, who, url)  # type: ignore[arg-type]
    if forget:
        LoginStore(path, None, lambda _: None).forget()
        click.echo(f"Forgotten: {make_printable(spec.name)}.")
        return
    browser = Browser(
        lambda line: click.echo(make_printable(line), err=True),
        *([None] if no_browser else []),
    )

    async def log_in() -> int:
        async with (
            open_sessions(person=browser) as pool,
            pool.lend_session(spec, who) as session,
        ):
            return len(session.tools.tools)

    try:
        tools = run_alone(log_in)
    finally:
        browser.close()
    kept = f" The login is kept in {format_path(path)}." if path.exists() else ""
    click.echo(f"Logged in to {make_printable(spec.name)}: {format_count(tools, 'tool')}.{kept}")
