"""Replaces secrets in a command line with variables: a drafted file goes into a repository."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote

from harness.base import MIN_LENGTH, find_server_secrets
from harness.suites import parse_server_command
from harness.types import ServerSpec


def replace_secrets(server: ServerSpec) -> tuple[ServerSpec, tuple[str, ...]]:
    """Return ``server`` with secrets replaced by ``${SERVER_SECRET}``, and the variables' names.

    References to variables are kept.
    """
    # The longest first, since one secret may be a part of another.
    found = sorted(
        {secret for secret in find_server_secrets([server]) if len(secret) >= MIN_LENGTH},
        key=len,
        reverse=True,
    )
    names: list[str] = []
    for secret in found:
        name = "SERVER_SECRET" if not names else f"SERVER_SECRET_{len(names) + 1}"
        changed = server
        # In a URL it may be escaped.
        for form in (secret, quote(secret, safe="")):
            args = tuple(arg.replace(form, f"${{{name}}}") for arg in changed.transport.args)
            url = (
                None
                if changed.transport.url is None
                else changed.transport.url.replace(form, f"${{{name}}}")
            )
            changed = replace(changed, transport=replace(changed.transport, args=args, url=url))
        # A reference to a variable is no secret by itself.
        if changed != server and "${" not in secret:
            server = changed
            names.append(name)
    return server, tuple(names)


def build_server_entry(text: str, spec: ServerSpec) -> tuple[ServerSpec | str, tuple[str, ...]]:
    """Return ``server:`` of a suite for ``spec``, which ``--server text`` has given.

    A name or a URL is returned unchanged; a command is returned as typed, with variables
    unexpanded. Secrets in the command become variables, whose names are returned too.
    """
    is_command = spec.at is not None and spec.at.file == _BY_COMMAND
    return replace_secrets(parse_server_command(text)) if is_command else (text, ())


_BY_COMMAND = "--server"
"""Marks a server that was given as a command line, not configured in a file."""
