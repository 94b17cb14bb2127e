"""Print the script for shell completion of commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_HARNESS_COMPLETE"
"""The variable by which the shell asks the command for completions."""


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the script that lets SHELL complete commands, options, suites, runs and files.

    \b
    bash:  echo 'eval "$(harness completion bash)"' >> ~/.bashrc
    zsh:   echo 'eval "$(harness completion zsh)"' >> ~/.zshrc
    fish:  harness completion fish > ~/.config/fish/completions/harness.fish
    """  # noqa: D301 - the backspace keeps click from filling these lines
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(context.find_root().command, {}, "harness", VARIABLE).source())
