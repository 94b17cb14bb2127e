"""Every command and option, from the command line itself."""

from __future__ import annotations

from inspect import cleandoc

import click

from docs.site.reference.markdown import as_code, fenced, plain, table
from harness.base.manual import ABOUT_COMMAND
from harness.cli import COMMANDS, cli

HEAD = """# Commands

{example}
`harness --help` lists the commands, and `harness COMMAND --help` says what stands here of each.
This page is written from the command line itself. [Exit codes](environment.md#exit-codes) mean
the same for every command.

"""


def commands_page() -> str:
    """Return the page."""
    example = fenced("sh", "harness --help\nharness evals --help")
    return HEAD.format(example=example) + "\n".join(_section(name) for name in COMMANDS)


def _section(name: str) -> str:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    context = click.Context(command, info_name=f"harness {name}")
    usage = " ".join([f"harness {name}", *command.collect_usage_pieces(context)])
    records = [param.get_help_record(context) for param in command.params]
    rows = [
        (as_code(record[0]), plain(record[1]))
        for param, record in zip(command.params, records, strict=True)
        if record is not None and isinstance(param, click.Option)
    ]
    return "\n".join(
        [
            f"## harness {name}\n",
            fenced("text", usage),
            _told(command.help or ""),
            *(
                [f"More: [{ABOUT_COMMAND[name]}](../{ABOUT_COMMAND[name]}.md).\n"]
                if name in ABOUT_COMMAND
                else []
            ),
            table(("option", "meaning"), rows),
        ]
    )


def _told(help_text: str) -> str:
    """Return the text of a command's help; a paragraph behind a line of its own is a listing."""
    paragraphs = cleandoc(help_text).split("\n\n")
    return "\n".join(
        fenced("text", "\n".join(part.split("\n")[1:]))
        if part.startswith("\b\n")
        else f"{plain(part)}\n"
        for part in paragraphs
    )
