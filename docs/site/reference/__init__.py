"""The pages of the reference, written from the code: what it says of itself, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from docs.site.reference.checks import checks_page
from docs.site.reference.commands import commands_page
from docs.site.reference.environment import environment_page
from docs.site.reference.keys import configuration_page, suite_page
from docs.site.reference.lint_rules import lint_rules_page
from docs.site.reference.messages import messages_page
from docs.site.reference.options import options_page
from docs.site.reference.python_api import python_page
from docs.site.reference.tables import record_page, tables_page

PAGES: dict[str, Callable[[], str]] = {
    "reference/commands.md": commands_page,
    "reference/options.md": options_page,
    "reference/checks.md": checks_page,
    "reference/suite.md": suite_page,
    "reference/configuration.md": configuration_page,
    "reference/lint-rules.md": lint_rules_page,
    "reference/record.md": record_page,
    "reference/tables.md": tables_page,
    "reference/python.md": python_page,
    "reference/environment.md": environment_page,
    "reference/messages.md": messages_page,
}
"""Page of the site → what writes its text."""


def write_reference(to: Path) -> None:
    """Write all of them into the folder ``to``."""
    for name, text in PAGES.items():
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        (to / name).write_text(text(), "utf-8")
