"""The plugin's options: those of the table that pytest can have.

Each may also be set in pytest's configuration.
"""

from __future__ import annotations

import argparse
import re
from typing import Any

import pytest

from harness.runner import OPTIONS, options_of


def add_options(parser: pytest.Parser) -> None:
    """Declare every option, on the command line and in the configuration.

    Those that pytest cannot have are declared too, so that their refusal says why.
    """
    group = parser.getgroup("harness", "evals of MCP servers (harness)")
    for option in OPTIONS:
        name, flag = f"harness_{option.key}", option.metavar is None
        settings: dict[str, Any] = {"dest": name, "help": option.help_at("pytest")}
        if "pytest" in option.absent:
            # With a value or without: the refusal is to name the option, and not what follows it.
            settings |= {"nargs": "?", "const": "given", "help": argparse.SUPPRESS}
        elif flag:
            settings |= {"action": "store_true"}
        else:
            settings |= {
                "action": "append" if option.repeated else "store",
                "metavar": option.metavar,
            }
        group.addoption(option.spelled_at("pytest"), **settings)
        if option.repeated:
            parser.addini(name, settings["help"], type="linelist")
        else:
            parser.addini(name, settings["help"], type="string")


_THEIR_NAMES = re.compile(
    rf"(?<![\w-])--(?=(?:{'|'.join(one.name for one in options_of('pytest'))})(?![\w-]))"
)


def rename_options(text: str) -> str:
    """Return a message with option names such as ``--model`` replaced by the plugin's names."""
    return _THEIR_NAMES.sub("--harness-", text)


def given_options(config: pytest.Config) -> dict[str, Any]:
    """Return key → value of all options that are set; the command line wins."""
    given = {
        option.key: config.getoption(name, None) or config.getini(name)
        for option in OPTIONS
        for name in (f"harness_{option.key}",)
    }
    return {key: value for key, value in given.items() if value}
