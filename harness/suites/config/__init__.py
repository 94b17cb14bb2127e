"""The configuration: models, agents, servers and defaults, from files and the environment.

In order of precedence: ``harness.yml`` of the project, then ``$HARNESS_CONFIG`` or
``~/.harness/config.yml``, then ``$MXCP_CONFIG`` or ``~/.mxcp/config.yml``, then the servers of the
project's ``.mcp.json``. The first file that
configures a name decides all of its settings, so that a key is never combined with an endpoint of
another file. References such as ``${NAME}`` are resolved only when a model or a server is used.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path
from typing import TypeVar

from harness.base import (
    KNOWN,
    InvalidInput,
    Problem,
    UsageError,
    Values,
    builtin_server,
    builtin_servers,
    did_you_mean,
    is_builtin_suite,
)
from harness.sessions import REPLAY, resolve_recording
from harness.suites.config.agents import (
    AgentEntry,
    KnownAgent,
    list_known_agents,
    resolve_named_agent,
)
from harness.suites.config.client_configs import add_env_file, read_client_config
from harness.suites.config.files import (
    ConfigFile,
    ServerEntry,
    read_config_file,
    read_foreign_config_file,
)
from harness.suites.config.model_entries import ModelEntry, override_options
from harness.suites.config.models import (
    OFFLINE,
    ModelResolver,
    ResolvedModel,
    find_named_entry,
    well_known_names,
)
from harness.suites.config.servers import expand_server, join_servers, parse_server_command
from harness.types import Location, ModelSpec, Protocol, ServerSpec, dataclass

T = TypeVar("T")

_INTERPRETERS = {".py": "python", **dict.fromkeys((".js", ".mjs", ".cjs"), "node")}
PROJECT_FILES = ("harness.yml", "harness.yaml")
"""Names of the project's configuration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The whole configuration; ``Config()`` has only the built-in models and servers."""

    files: tuple[ConfigFile, ...] = ()
    """The files that were found, in order of precedence."""
    client: ConfigFile | None = None
    """The servers of an MCP client; they take precedence over all others."""
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Environment in which references, keys and base URLs are looked up."""
    keyless: bool = False
    """Whether a model may lack its key, because it will not be asked: for a dry run."""

    protocol: Protocol | None = None
    """The revision of MCP for every server, in place of its own; ``None`` keeps that."""
    start_timeout_s: float | None = None
    """Seconds that every server may take to start, in place of its own; ``None`` keeps that."""

    @property
    def default_model(self) -> str | None:
        """The model for suites that name none."""
        return next((file.default_model for file in self.files if file.default_model), None)

    @property
    def concurrency(self) -> int | None:
        """Trials at the same time; ``None`` when no file sets it."""
        return next((file.concurrency for file in self.files if file.concurrency), None)

    @property
    def timeout_s(self) -> float | None:
        """Wall time of a trial, in seconds; ``None`` when no file sets it."""
        return next((file.timeout_s for file in self.files if file.timeout_s), None)

    def resolve_model(self, name: str, options: Values | None = None) -> ModelSpec:
        """Return the model of that name: a configured one, a known id or alias, or ``provider:id``.

        ``options`` are settings as in a file, and override the file's.

        Raises:
            UsageError: there is no such model, its key is missing, or its settings cannot be used.
        """
        # A configured name goes before a known id: somebody gave it a meaning of their own.
        entry = self._model_entries().get(name) or find_named_entry(name)
        if entry is None:
            raise self._build_no_model(name)
        if options:
            entry = override_options(entry, options)
        resolved = ModelResolver(entry, self.environ, keyless=self.keyless).resolve()
        if resolved.error is not None:
            raise resolved.error
        return resolved.spec

    def resolve_agent(self, text: str, cwd: Path) -> ModelSpec:
        """Return the agent that ``text`` names: a configured one, a kind, or a command in ``cwd``.

        Raises:
            UsageError: there is no such agent, or its settings cannot be used.
        """
        return resolve_named_agent(text, self._agent_entries(), self.environ, cwd)

    def list_agents(self, cwd: Path) -> tuple[KnownAgent, ...]:
        """Return every agent that has a name; a problem is recorded, not raised."""
        return list_known_agents(self._agent_entries(), self.environ, cwd)

    def list_models(self) -> tuple[ResolvedModel, ...]:
        """Return every configured model and the built-in one; a problem is recorded, not raised."""
        embedded = find_named_entry(OFFLINE)
        entries = (*self._model_entries().values(), *([embedded] if embedded else []))
        return tuple(ModelResolver(entry, self.environ).resolve() for entry in entries)

    @property
    def server_names(self) -> tuple[str, ...]:
        """Names of the servers in configuration files, without built-in ones."""
        return tuple(self._server_entries())

    def resolve_server(
        self,
        ref: ServerSpec | str | tuple[str, ...] | None,
        suite_name: str,
        suite_file: str | None = None,
    ) -> ServerSpec:
        """Return a suite's server, ready to start.

        ``ref`` is the server itself, the name of a configured or built-in one, or the names of
        several to join. ``None`` means what `find_meant_servers` finds.

        Raises:
            UsageError: there is no such server, or a variable that it needs is not set.
        """
        # Written in the suite itself: no file is asked.
        if isinstance(ref, ServerSpec):
            return self._as_all_are(expand_server(ref, self.environ))
        if isinstance(ref, tuple):
            return join_servers([self._named_server(name) for name in dict.fromkeys(ref)])
        if ref is not None:
            return self._named_server(ref)
        if meant := self.find_meant_servers(suite_name, suite_file):
            return join_servers([self._named_server(name) for name in meant])
        raise UsageError(
            f"the suite {suite_name!r} names no server",
            meant="Give it one: server: NAME, with the name under servers: in harness.yml, "
            f'or --server "python my_server.py" on the command line.{self._known_servers()}',
        )

    def find_meant_servers(self, suite_name: str, suite_file: str | None = None) -> tuple[str, ...]:
        """Return the names of the servers of a suite that names none; empty if that is not clear.

        It is the configured server with the suite's name, else the only one of the first file that
        configures any, or all of an MCP client's configuration. A built-in server is meant by its
        name alone in the project's own suites, and where nothing is configured.

        Raises:
            UsageError: every server of the given client configuration is disabled.
        """
        configured = self._server_entries() if self.client is None else self.client.servers
        # Before the only one: a name that is the same is no accident.
        if suite_name in configured:
            return (suite_name,)
        ours = (suite_name,) if suite_name in builtin_servers() else ()
        if ours and is_builtin_suite(suite_file):
            return ours
        if self._means_all():
            return tuple(self._meant_entries())
        # Somebody else's suite may be called like a server of ours by chance.
        return () if configured else ours

    def only_server(self, command: str) -> ServerSpec:
        """Return the only configured server, or all of an MCP client's.

        ``command`` is the command that needs a server, for messages.

        Raises:
            UsageError: there is none, or more than one, or a variable that it needs is not set.
        """
        if self._means_all():
            return self._meant_server()
        raise UsageError(
            "no server was given",
            meant=f'Name one: {command} NAME, or --server "python '
            f'my_server.py".{self._known_servers()}',
        )

    def knows_server(self, name: str) -> bool:
        """Return whether ``name`` is that of a configured or built-in server."""
        return name.startswith(REPLAY) or name in {*self._server_entries(), *builtin_servers()}

    def server_options(self, texts: Sequence[str]) -> ServerSpec:
        """Return the server of one or several ``--server`` options; several are joined.

        Raises:
            UsageError: one of them cannot be used, or two have the same name.
        """
        return join_servers([self.server_option(text) for text in dict.fromkeys(texts)])

    def server_option(self, text: str) -> ServerSpec:
        """Return the server of a ``--server`` option: a name, a URL, or else a command line.

        Raises:
            UsageError: it is none of these, or a variable that it needs is not set.
        """
        # A name before a command: a server may be called like a program.
        if self.knows_server(text):
            return self._named_server(text)
        spec = parse_server_command(text)
        word = None if spec.transport.args else spec.transport.command
        if word and shutil.which(word, path=self.environ.get("PATH")) is None:
            raise _no_program(word) or self._build_no_server(word, "server or command")
        return self._as_all_are(expand_server(spec, self.environ))

    def _named_server(self, name: str) -> ServerSpec:
        if entry := self._server_entries().get(name):
            for variable, default in entry.hidden.items():
                # Before anything can fail and be told: the client hides these values.
                KNOWN.add_secret(self.environ.get(variable, default))
            ready = expand_server(entry.spec, self.environ, entry.locate, entry.asked)
            return self._as_all_are(add_env_file(entry, ready, self.environ))
        if name.startswith(REPLAY):
            return self._as_all_are(resolve_recording(name))
        if name in builtin_servers():
            return self._as_all_are(builtin_server(name))
        raise self._build_no_server(name, "server")

    def _as_all_are(self, server: ServerSpec) -> ServerSpec:
        """Return ``server`` with what was said for all of them: revision of MCP, time to start."""
        transport = replace(server.transport, protocol=self.protocol or server.transport.protocol)
        # Each member of a joined server is reached by a transport of its own.
        members = tuple(map(self._as_all_are, server.members))
        seconds = self.start_timeout_s or server.start_timeout_s
        return replace(server, transport=transport, members=members, start_timeout_s=seconds)

    def _build_no_server(self, name: str, sought: str) -> UsageError:
        if self.client is not None and (at := self.client.disabled.get(name)):
            meant = "Enable it there, or name another one."
            return UsageError(f"the server {name!r} is disabled at {at}", meant=meant)
        near = did_you_mean(name, (*self._server_entries(), *builtin_servers()))
        meant = f"{near or 'Configure it under servers: in harness.yml.'}{self._known_servers()}"
        return UsageError(f"there is no {sought} named {name!r}", meant=meant)

    def _known_servers(self) -> str:
        names = (*self._server_entries(), *builtin_servers())
        return f" Known: {', '.join(dict.fromkeys(names))}." if names else ""

    def _build_no_model(self, name: str) -> UsageError:
        if name in self._agent_entries():
            meant = f"An agent answers suites: --agent {name}. Name a model here."
            return UsageError(f"{name!r} is an agent, not a model", meant=meant)
        configured = tuple(self._model_entries())
        near = did_you_mean(name, (*configured, OFFLINE, *well_known_names()))
        known = f"Configured: {', '.join(configured)}." if configured else "No model is configured."
        how = (
            f"Or write provider:model, such as openai:gpt-4o; {OFFLINE} needs neither key nor "
            "network."
        )
        meant = " ".join(filter(None, (near, known, how)))
        return UsageError(f"there is no model named {name!r}", meant=meant)

    def _model_entries(self) -> dict[str, ModelEntry]:
        entries = _first_wins(file.models for file in self.files)
        # MXCP's file may have a model of that name; here it always means the built-in one.
        entries.pop(OFFLINE, None)
        return entries

    def _agent_entries(self) -> dict[str, AgentEntry]:
        return _first_wins(file.agents for file in self.files)

    def _means_all(self) -> bool:
        """Whether the server is unambiguous although none is named.

        Raises:
            UsageError: every server of the given client configuration is disabled.
        """
        if self.client is not None and not self.client.servers and self.client.disabled:
            names = ", ".join(self.client.disabled)
            message = f"every server in {self.client.file} is disabled: {names}"
            raise UsageError(message, meant="Enable one of them.")
        entries = self._meant_entries()
        return len(entries) == 1 or (self.client is not None and bool(entries))

    def _meant_server(self) -> ServerSpec:
        return join_servers([self._named_server(name) for name in self._meant_entries()])

    def _meant_entries(self) -> Mapping[str, ServerEntry]:
        """Return the servers that may be meant if none is named."""
        # Those of one file: what a home folder configures makes a project's only server no choice.
        files = self.files if self.client is None else (self.client,)
        return next((file.servers for file in files if file.servers), {})

    def _server_entries(self) -> dict[str, ServerEntry]:
        files = (self.client, *self.files) if self.client else self.files
        return _first_wins(file.servers for file in files)


def load_config(
    cwd: Path,
    environ: Mapping[str, str],
    mcp_config: str | None = None,
    protocol: Protocol | None = None,
    start_timeout_s: float | None = None,
) -> Config:
    """Read every configuration file for the folder ``cwd``, and an MCP client's if one is named.

    ``protocol`` and ``start_timeout_s`` are for every server. The project's ``.mcp.json`` comes
    last: its servers are those that no other file configures.

    Raises:
        InvalidInput: a file is not valid, or a file named by a variable does not exist.
    """
    own = _user_file("HARNESS_CONFIG", ".harness", environ)
    foreign = _user_file("MXCP_CONFIG", ".mxcp", environ)
    files = [read_config_file(path, project=True) for path in _project_file(cwd)]
    files += [read_config_file(path) for path in own]
    files += [read_foreign_config_file(path) for path in foreign]
    client = None if mcp_config is None else read_client_config(cwd / Path(mcp_config).expanduser())
    if client is None and (found := cwd / ".mcp.json").is_file():
        # Nobody named it: what is wrong in it must not end what needs none of its servers.
        with suppress(InvalidInput):
            files.append(read_client_config(found))
    return Config(
        files=tuple(files),
        client=client,
        environ=dict(environ),
        protocol=protocol,
        start_timeout_s=start_timeout_s,
    )


def _first_wins(mappings: Iterable[Mapping[str, T]]) -> dict[str, T]:
    # In the order of the first mention of each name.
    merged: dict[str, T] = {}
    for mapping in mappings:
        merged |= {name: entry for name, entry in mapping.items() if name not in merged}
    return merged


def _project_file(cwd: Path) -> list[Path]:
    """Look in ``cwd`` and, within a git repository, in its parents up to the repository's root.

    Outside of a repository no parent is read: the parent may belong to another user, and a
    configuration starts processes.
    """
    folder = cwd.absolute()
    above = [folder, *folder.parents]
    root = next((at for at, parent in enumerate(above) if (parent / ".git").exists()), 0)
    for parent in above[: root + 1]:
        found = [parent / name for name in PROJECT_FILES if (parent / name).exists()]
        # To prefer one of them would leave the other without effect, unseen.
        if len(found) > 1:
            message = f"both {PROJECT_FILES[0]} and {PROJECT_FILES[1]} are here."
            at = Location(file=str(found[1]))
            raise InvalidInput([Problem(at=at, message=message, meant="Remove one of them.")])
        if found:
            return found
    return []


def _user_file(variable: str, folder: str, environ: Mapping[str, str]) -> list[Path]:
    """Return the existing file that ``variable`` names, else the one in the home folder."""
    if named := environ.get(variable):
        path = Path(named).expanduser()
        if not path.is_file():
            what = "this is a folder, not a file" if path.is_dir() else "there is no such file"
            message = f"{what}; ${variable} names it."
            raise InvalidInput([Problem(at=Location(file=named), message=message)])
        return [path]
    usual = Path(environ["HOME"]) / folder / "config.yml" if environ.get("HOME") else None
    return [usual] if usual and usual.is_file() else []


def _no_program(name: str) -> UsageError | None:
    """Return the error for a path that is not a command; ``None`` if there is no such path."""
    path = Path(name)
    if path.is_dir():
        meant = "Name the program in it that starts the server."
        return UsageError(f"{name} is a folder, not a command", meant=meant)
    if path.is_file():
        runs = _INTERPRETERS.get(path.suffix, "PROGRAM")
        meant = f'Name its interpreter: --server "{runs} {name}".'
        return UsageError(f"{name} is not executable", meant=meant)
    return None
