"""What is configured: models, servers and defaults, from three files and the environment.

In order of precedence: ``harness.yml`` of the project, then ``$HARNESS_CONFIG`` or
``~/.harness/config.yml``, then ``$MXCP_CONFIG`` or ``~/.mxcp/config.yml``. The first file that
configures a name decides all of it, so that a key never meets an endpoint of another file.
References such as ``${NAME}`` are looked up when a model or a server is used, not before.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from harness.builtin import builtin_server, builtin_servers
from harness.config.clients import read_client_config, with_env_file
from harness.config.entries import ModelEntry, overridden
from harness.config.files import ConfigFile, ServerEntry, read_config_file, read_foreign_config_file
from harness.config.models import (
    OFFLINE,
    ResolvedModel,
    named_entry,
    resolve,
    well_known_names,
)
from harness.config.servers import expand_server, joined, server_from_command
from harness.errors import InvalidInput, Problem, UsageError, did_you_mean
from harness.redaction import KNOWN
from harness.types import Location, ModelSpec, ServerSpec

T = TypeVar("T")

PROJECT_FILES = ("harness.yml", "harness.yaml")
"""Names of the project's configuration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Everything configured; ``Config()`` knows only what needs no configuration."""

    files: tuple[ConfigFile, ...] = ()
    """Those that were found, in order of precedence."""
    client: ConfigFile | None = None
    """The servers of an MCP client, which go before all others."""
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Where references, keys and base URLs are looked up."""
    keyless: bool = False
    """Whether a model without its key will do, since nobody is going to ask it: for a dry run."""

    @property
    def default_model(self) -> str | None:
        """The model for suites that name none."""
        return next((file.default_model for file in self.files if file.default_model), None)

    @property
    def concurrency(self) -> int | None:
        """Trials at the same time; ``None`` when no file says."""
        return next((file.concurrency for file in self.files if file.concurrency), None)

    @property
    def timeout_s(self) -> float | None:
        """Wall time of a trial, in seconds; ``None`` when no file says."""
        return next((file.timeout_s for file in self.files if file.timeout_s), None)

    def model(self, name: str, options: Mapping[str, Any] | None = None) -> ModelSpec:
        """Return the model of that name: a configured one, a known id or alias, or ``provider:id``.

        ``options`` are settings as a file has them, and go before it.

        Raises:
            UsageError: there is none, its key is missing, or its settings cannot be used.
        """
        entry = self._model_entries().get(name) or named_entry(name)
        if entry is None:
            raise self._no_model(name)
        if options:
            entry = overridden(entry, options)
        return resolve(entry, self.environ, keyless=self.keyless).usable()

    def models(self) -> tuple[ResolvedModel, ...]:
        """Return every configured model and the embedded one, with what is wrong instead of raising it."""
        embedded = named_entry(OFFLINE)
        entries = (*self._model_entries().values(), *([embedded] if embedded else []))
        return tuple(resolve(entry, self.environ) for entry in entries)

    @property
    def server_names(self) -> tuple[str, ...]:
        """The servers that files configure, built-in ones apart."""
        return tuple(self._server_entries())

    def server(self, ref: ServerSpec | str | tuple[str, ...] | None, suite_name: str) -> ServerSpec:
        """Return a suite's server, ready to start.

        ``ref`` is the server itself, or the name of a configured or built-in one, or those of
        several that are to be joined. ``None`` means the one named like the suite, else the only
        one that is configured, or all of an MCP client's configuration.

        Raises:
            UsageError: there is none, or a variable that it needs is not set.
        """
        if isinstance(ref, ServerSpec):
            return expand_server(ref, self.environ)
        if isinstance(ref, tuple):
            return joined([self._named_server(name) for name in dict.fromkeys(ref)])
        if ref is not None:
            return self._named_server(ref)
        entries = self._meant_entries()
        if suite_name in entries or suite_name in builtin_servers():
            return self._named_server(suite_name)
        if self._all_are_meant():
            return self._meant_server()
        raise UsageError(
            f"the suite {suite_name!r} names no server",
            meant="Give it one: server: NAME, with the name under servers: in harness.yml, "
            f'or --server "python my_server.py" on the command line.{self._known_servers()}',
        )

    def only_server(self, command: str) -> ServerSpec:
        """Return the only server that is configured, or all of an MCP client's, for a ``command`` that was given none.

        Raises:
            UsageError: there is none, or more than one, or a variable that it needs is not set.
        """
        if self._all_are_meant():
            return self._meant_server()
        raise UsageError(
            "no server was given",
            meant=f'Name one: {command} NAME, or --server "python '
            f'my_server.py".{self._known_servers()}',
        )

    def server_options(self, texts: Sequence[str]) -> ServerSpec:
        """Return what one or several ``--server`` ask for; several are joined, and the model sees the tools of all.

        Raises:
            UsageError: one of them cannot be used, or two have one name.
        """
        return joined([self.server_option(text) for text in dict.fromkeys(texts)])

    def server_option(self, text: str) -> ServerSpec:
        """Return the server that ``--server`` asks for: a name, a URL, or else a command line to start.

        Raises:
            UsageError: it is neither, or a variable that it needs is not set.
        """
        if text in self._server_entries() or text in builtin_servers():
            return self._named_server(text)
        spec = server_from_command(text)
        if (
            not spec.args
            and spec.command
            and shutil.which(spec.command, path=self.environ.get("PATH")) is None
        ):
            raise _no_program(spec.command) or self._no_server(spec.command, "server or command")
        return expand_server(spec, self.environ)

    def _named_server(self, name: str) -> ServerSpec:
        if entry := self._server_entries().get(name):
            for variable, default in entry.hidden.items():
                KNOWN.learn(self.environ.get(variable, default))
            ready = expand_server(entry.spec, self.environ, entry.locate, entry.asked)
            return with_env_file(entry, ready, self.environ)
        if name in builtin_servers():
            return builtin_server(name)
        raise self._no_server(name, "server")

    def _no_server(self, name: str, sought: str) -> UsageError:
        if self.client is not None and (at := self.client.disabled.get(name)):
            return UsageError(
                f"the server {name!r} is disabled at {at}",
                meant="Enable it there, or name another one.",
            )
        near = did_you_mean(name, (*self._server_entries(), *builtin_servers()))
        return UsageError(
            f"there is no {sought} named {name!r}",
            meant=f"{near or 'Configure it under servers: in harness.yml.'}{self._known_servers()}",
        )

    def _known_servers(self) -> str:
        names = (*self._server_entries(), *builtin_servers())
        return f" Known: {', '.join(dict.fromkeys(names))}." if names else ""

    def _no_model(self, name: str) -> UsageError:
        configured = tuple(self._model_entries())
        near = did_you_mean(name, (*configured, OFFLINE, *well_known_names()))
        known = f"Configured: {', '.join(configured)}." if configured else "No model is configured."
        how = (
            f"Or write provider:model, such as openai:gpt-4o; {OFFLINE} needs neither key nor "
            f"network."
        )
        return UsageError(
            f"there is no model named {name!r}", meant=" ".join(filter(None, (near, known, how)))
        )

    def _model_entries(self) -> dict[str, ModelEntry]:
        entries = _first_wins(file.models for file in self.files)
        entries.pop(OFFLINE, None)
        return entries

    def _all_are_meant(self) -> bool:
        """Whether it is clear which server is meant where nobody names one.

        Raises:
            UsageError: a client's configuration was given of which every server is disabled.
        """
        if self.client is not None and not self.client.servers and self.client.disabled:
            names = ", ".join(self.client.disabled)
            raise UsageError(
                f"every server in {self.client.file} is disabled: {names}",
                meant="Enable one of them.",
            )
        entries = self._meant_entries()
        return len(entries) == 1 or (self.client is not None and bool(entries))

    def _meant_server(self) -> ServerSpec:
        return joined([self._named_server(name) for name in self._meant_entries()])

    def _meant_entries(self) -> Mapping[str, ServerEntry]:
        """Return the servers that may be meant where nobody names one."""
        return self._server_entries() if self.client is None else self.client.servers

    def _server_entries(self) -> dict[str, ServerEntry]:
        return _first_wins(
            file.servers for file in (*([self.client] if self.client else []), *self.files)
        )


def load_config(cwd: Path, environ: Mapping[str, str], mcp_config: str | None = None) -> Config:
    """Read every configuration file that applies in the folder ``cwd``, and that of an MCP client if one is named.

    Raises:
        InvalidInput: a file is not valid, or the one that a variable names is not there.
    """
    files = [read_config_file(path, project=True) for path in _project_file(cwd)]
    files += [read_config_file(path) for path in _user_file("HARNESS_CONFIG", ".harness", environ)]
    files += [
        read_foreign_config_file(path) for path in _user_file("MXCP_CONFIG", ".mxcp", environ)
    ]
    client = None if mcp_config is None else read_client_config(cwd / Path(mcp_config).expanduser())
    return Config(files=tuple(files), client=client, environ=dict(environ))


def _first_wins(mappings: Iterable[Mapping[str, T]]) -> dict[str, T]:
    merged: dict[str, T] = {}
    for mapping in mappings:
        merged = {
            **merged,
            **{name: entry for name, entry in mapping.items() if name not in merged},
        }
    return merged


def _project_file(cwd: Path) -> list[Path]:
    """Look in ``cwd`` and, within a repository, in its parents up to the repository's root.

    Outside of a repository no parent is read: what lies there may be anybody's, and a
    configuration starts processes.
    """
    folder = cwd.absolute()
    above = [folder, *folder.parents]
    root = next(
        (position for position, parent in enumerate(above) if (parent / ".git").exists()), 0
    )
    for parent in above[: root + 1]:
        found = [parent / name for name in PROJECT_FILES if (parent / name).exists()]
        if len(found) > 1:
            message = f"both {PROJECT_FILES[0]} and {PROJECT_FILES[1]} are here."
            raise InvalidInput(
                [
                    Problem(
                        at=Location(file=str(found[1])),
                        message=message,
                        meant="Remove one of them.",
                    )
                ]
            )
        if found:
            return found
    return []


def _user_file(variable: str, folder: str, environ: Mapping[str, str]) -> list[Path]:
    """Return the file that ``variable`` names, which has to exist, or else the one in the home folder if it exists."""
    if named := environ.get(variable):
        path = Path(named).expanduser()
        if not path.is_file():
            what = "this is a folder, and no file" if path.is_dir() else "there is no such file"
            raise InvalidInput(
                [Problem(at=Location(file=named), message=f"{what}; ${variable} names it.")]
            )
        return [path]
    usual = Path(environ["HOME"]) / folder / "config.yml" if environ.get("HOME") else None
    return [usual] if usual and usual.is_file() else []


def _no_program(name: str) -> UsageError | None:
    """Return what to say of a path that was given as a command and is none; ``None`` if there is no such path."""
    path = Path(name)
    if path.is_dir():
        return UsageError(
            f"{name} is a folder, and no command", meant="Name what starts the server in it."
        )
    if path.is_file():
        runs = (
            "python"
            if path.suffix == ".py"
            else "node"
            if path.suffix in {".js", ".mjs", ".cjs"}
            else "PROGRAM"
        )
        return UsageError(
            f"{name} cannot be started by itself", meant=f'Say by what: --server "{runs} {name}".'
        )
    return None
