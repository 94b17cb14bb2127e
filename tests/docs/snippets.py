"""Every listing of every page, and the reader that takes it."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import dropwhile
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import click
import yaml

from docs.site.pages import ROOT, pages
from harness.cli import cli
from harness.judging.checks import VOCABULARY
from harness.suites.attacks.reading import read_attacks_file
from harness.suites.config import load_config
from harness.suites.config.files import CONFIGURATION
from harness.suites.config.server_entries import SERVER
from harness.suites.format_tables import build_layouts
from harness.suites.readers import read_suite
from harness.suites.variants import read_variants_file

LANGUAGES = ("sh", "bash", "console", "yaml", "python", "json")
# fmt: off
ORDINARY = frozenset({
    "cat", "cd", "claude", "codex", "cp", "curl", "diff", "docker", "echo", "eval", "export", "gh",
    "git", "head",
    "less", "ln", "ls", "mkdir", "mv", "mxcp", "my-agent", "my-tool", "node", "npm", "npx", "pip",
    "pipx", "printf", "pytest", "ray", "sed", "sha256sum", "srun", "ssh", "tail", "tee", "twine",
    "uv", "uvx", "wait",
})
# fmt: on
"""Programs of others, which readers have or name as examples."""
SETTINGS = dict.fromkeys(
    ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GATEWAY_KEY", "SHOP_TOKEN", "ACME_KEY"], "k"
)

_BLOCK = re.compile(
    r"^(?P<in> *)```(?P<language>\w+)\n(?P<text>.*?)^(?P=in)```$", re.DOTALL | re.MULTILINE
)
_PUNCTUATION = ";|&<>"
_TARGET = re.compile(r"^([\w-]+):", re.MULTILINE)
_TEST = {"name": "a", "prompt": "b", "assertions": {"answer_contains": ["c"]}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """One listing."""

    page: str
    line: int
    language: str
    text: str

    @property
    def begin(self) -> str:
        """Its first line, by which `test_snippets.READ_ELSEWHERE` names it."""
        return self.text.strip().split("\n")[0]


def snippets() -> Iterator[Snippet]:
    """Yield the listings of all pages in `LANGUAGES`."""
    for name in pages():
        text = (ROOT / name).read_text("utf-8")
        for block in _BLOCK.finditer(text):
            if block["language"] in LANGUAGES:
                line = text.count("\n", 0, block.start()) + 1
                yield Snippet(
                    page=name, line=line, language=block["language"], text=dedent(block["text"])
                )


def read(snippet: Snippet, folder: Path) -> None:
    """Read a listing as harness, Python or JSON does; raise whatever is wrong in it."""
    if snippet.language in ("sh", "bash"):
        read_commands(snippet.text.replace("\\\n", " ").splitlines())
    elif snippet.language == "console":
        read_commands([*typed(snippet.text.replace("\\\n", " "))])
    elif snippet.language == "python":
        read_python(snippet.text)
    elif snippet.language == "json":
        json.loads(snippet.text)
    else:
        read_yaml(snippet.text, folder)


def typed(text: str) -> Iterator[str]:
    """Yield what is typed behind each ``$``; quotes may go on over further lines."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("$ "):
            command = line.removeprefix("$ ")
            while not _is_closed(command):
                command += f" {next(lines)}"
            yield command


def _is_closed(line: str) -> bool:
    try:
        shlex.split(line)
    except ValueError:
        return False
    return True


def read_commands(lines: list[str]) -> None:
    """Require that harness, make and ``python -m`` know what the lines ask of them."""
    for line in lines:
        for words in commands_in(line):
            command = [*dropwhile(re.compile(r"\w+=").match, words)]
            if command:
                _read_command(command)


def commands_in(line: str) -> list[list[str]]:
    """Return the commands of a shell's line, without comments and redirections."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=_PUNCTUATION)
    lexer.whitespace_split = True
    commands: list[list[str]] = [[]]
    words = iter(lexer)
    for word in words:
        if word and set(word) <= set("<>&") and set(word) & set("<>"):
            next(words, None)  # the file
        elif word and set(word) <= set(_PUNCTUATION):
            commands.append([])
        else:
            commands[-1].append(word)
    return commands


def _read_command(words: list[str]) -> None:
    program, *arguments = words
    name = Path(program).name
    if name == "harness":
        _read_harness(arguments)
    elif name == "make":
        assert set(arguments) <= set(_TARGET.findall((ROOT / "Makefile").read_text("utf-8")))
    elif name in ("python", "python3") and arguments[:1] == ["-m"]:
        assert importlib.util.find_spec(arguments[1]), arguments
    else:
        assert name in ORDINARY or name == "python", f"{program} is no program that is known here"


def _read_harness(arguments: list[str]) -> None:
    if not arguments or arguments[0].startswith("-") or arguments[0].isupper():
        return
    context = click.Context(cli)
    command = cli.get_command(context, arguments[0])
    assert command is not None, f"there is no command {arguments[0]}"
    own = click.Context(command, info_name=arguments[0], parent=context)
    known = [word for word in arguments[1:] if word != "…"]
    command.make_parser(own).parse_args(known)


def read_python(text: str) -> None:
    """Require that Python compiles it, and that what it imports of harness is there."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "harness":
            module = import_module(node.module or "")
            for alias in node.names:
                assert hasattr(module, alias.name), f"{node.module} has no {alias.name}"


def read_yaml(text: str, folder: Path) -> None:
    """Read a suite, a configuration, a file of variants, or a part of one of them."""
    value = yaml.safe_load(text)
    path = folder / "harness.yml"
    if isinstance(value, list):
        lead = "suite: a\nserver: b\ntests:\n"
        _read_suite(folder, lead + indent(text, "  "))
    elif "tests" in value:
        _read_suite(folder, text)
    elif value.keys() <= CONFIGURATION.fields.keys():
        path.write_text(text, "utf-8")
        config = load_config(folder, SETTINGS)
        assert [str(model.error) for model in config.list_models() if model.error] == []
    elif "attacks" in value:
        (folder / "attacks.yml").write_text(text, "utf-8")
        assert read_attacks_file(folder / "attacks.yml")
    elif value.keys() == {"variants"}:
        (folder / "variants.yml").write_text(text, "utf-8")
        assert read_variants_file(folder / "variants.yml")
    elif value.keys() <= set(VOCABULARY.names()):
        for name, given in value.items():
            VOCABULARY.parse(name, given)
    elif value.keys() <= SERVER.fields.keys() - _suite_keys():
        entry = {"command": "a", **value}
        path.write_text(yaml.safe_dump({"servers": {"b": entry}}), "utf-8")
        load_config(folder, SETTINGS)
    else:
        assert value.keys() <= _suite_keys(), f"{sorted(value)}: parts of nothing that is known"
        _read_suite(
            folder, yaml.safe_dump({"suite": "a", "server": "b", **value, "tests": [_TEST]})
        )


def _read_suite(folder: Path, text: str) -> None:
    path = folder / "suite.yml"
    path.write_text(text, "utf-8")
    assert read_suite(path, VOCABULARY).cases


@cache
def _suite_keys() -> frozenset[Any]:
    return frozenset(build_layouts(VOCABULARY).suite.fields)
