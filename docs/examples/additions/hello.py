# harness/cli/commands/hello.py
"""Greet somebody."""

from __future__ import annotations

import click


@click.command("hello")
@click.argument("name")
def command(name: str) -> None:
    """Greet NAME."""
    click.echo(f"Hello, {name}.")
