"""The plugin's options, named after those of ``harness evals``.

Each may also be set in pytest's configuration.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """``--harness-NAME``, or ``harness_name`` in ``pytest.ini`` or ``pyproject.toml``."""

    name: str
    """As on the command line, without ``--harness-``."""
    metavar: str
    """The placeholder of its value in the help."""
    help: str
    """What it does, in a sentence."""
    read: Callable[[str], Any] = str
    """Turns the text into a value; raises `ValueError`."""
    repeated: bool = False
    """Whether it may be given more than once."""

    @property
    def key(self) -> str:
        """The name under which pytest keeps it."""
        return f"harness_{self.name.replace('-', '_')}"


def _parse_positive(text: str) -> int:
    if int(text) < 1:
        raise ValueError(text)
    return int(text)


def _parse_money(text: str) -> float:
    if not float(text) >= 0:
        raise ValueError(text)
    return float(text)


OPTIONS = (
    Option(name="model", metavar="NAME", help="Model under test; may be repeated.", repeated=True),
    Option(
        name="agent",
        metavar="NAME|COMMAND",
        help="Agent under test, beside models: claude-code, codex, one of agents: in harness.yml, "
        "or a command; may be repeated.",
        repeated=True,
    ),
    Option(name="trials", metavar="N", help="Run every case N times.", read=_parse_positive),
    Option(
        name="server", metavar="COMMAND|NAME", help="Use this server in place of every suite's."
    ),
    Option(
        name="judge-model",
        metavar="NAME",
        help="Model that judges answers, for checks that need a judge.",
    ),
    Option(
        name="user-model",
        metavar="NAME",
        help="Model that plays simulated users.",
    ),
    Option(name="timeout", metavar="MS", help="Milliseconds for one trial.", read=_parse_positive),
    Option(
        name="max-cost", metavar="USD", help="Run no further case at this cost.", read=_parse_money
    ),
    Option(name="max-cases", metavar="N", help="Most cases of one dataset.", read=_parse_positive),
)


def add_options(parser: pytest.Parser) -> None:
    """Declare every option, on the command line and in the configuration."""
    group = parser.getgroup("harness", "evals of MCP servers (harness)")
    for option in OPTIONS:
        action = "append" if option.repeated else "store"
        group.addoption(
            f"--harness-{option.name}",
            dest=option.key,
            action=action,
            metavar=option.metavar,
            help=option.help,
        )
        if option.repeated:
            parser.addini(option.key, option.help, type="linelist")
        else:
            parser.addini(option.key, option.help, type="string")


_THEIR_NAMES = re.compile(
    rf"(?<![\w-])--(?=(?:{'|'.join(option.name for option in OPTIONS)})(?![\w-]))"
)


def rename_options(text: str) -> str:
    """Return a message with option names such as ``--model`` replaced by the plugin's names."""
    return _THEIR_NAMES.sub("--harness-", text)


def get_value(config: pytest.Config, name: str) -> Any:
    """Return an option's value, ``None`` if it is not set.

    The command line wins over the configuration.

    Raises:
        pytest.UsageError: it cannot be read.
    """
    option = next(option for option in OPTIONS if option.name == name)
    given = config.getoption(option.key, None) or config.getini(option.key)
    if not given:
        return None
    try:
        return [option.read(one) for one in given] if option.repeated else option.read(given)
    except ValueError:
        raise pytest.UsageError(
            f"--harness-{name} {given}: expected {option.metavar}: {option.help}"
        ) from None
