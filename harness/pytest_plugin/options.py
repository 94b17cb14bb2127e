"""The plugin's options: those of the table that pytest can have.

Each may also be set in pytest's configuration.
"""

from __future__ import annotations

import argparse
import re
from typing import Any, Literal

import pytest

from harness.runner import OPTIONS, options_of


def add_options(parser: pytest.Parser) -> None:
    """Declare every option, on the command line and in the configuration.

    Those that pytest cannot have are declared too, so that their refusal says why.
    """
    group = parser.getgroup("harness", "evals of MCP servers (harness)")
    for option in OPTIONS:
        name = f"harness_{option.key}"
        settings: dict[str, Any] = {"dest": name, "help": option.help_at("pytest")}
        if "pytest" in option.absent:
            # With a value or without: the refusal is to name the option, and not what follows it.
            settings |= {"nargs": "?", "const": "given", "help": argparse.SUPPRESS}
        elif option.metavar is None:
            settings["action"] = "store_true"
        else:
            action = "append" if option.repeated else "store"
            settings |= {"action": action, "metavar": option.metavar}
        group.addoption(option.spelled_at("pytest"), **settings)
        kind: Literal["linelist", "string"] = "linelist" if option.repeated else "string"
        parser.addini(name, settings["help"], type=kind)


_THEIR_NAMES = re.compile(
    rf"(?<![\w-])--(?=(?:{'|'.join(one.name for one in options_of('pytest'))})(?![\w-]))"
)


def rename_options(text: str) -> str:
    """Return a message with option names such as ``--model`` replaced by the plugin's names."""
    return _THEIR_NAMES.sub("--harness-", text)


def given_options(config: pytest.Config) -> dict[str, Any]:
    """Return key → value of all options that are set; the command line wins."""
    names = {option.key: f"harness_{option.key}" for option in OPTIONS}
    given = {key: config.getoption(one, None) or config.getini(one) for key, one in names.items()}
    return {key: value for key, value in given.items() if value}
