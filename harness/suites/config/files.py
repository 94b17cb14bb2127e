"""Reads one configuration file: models, servers and defaults, with their locations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import partial
from pathlib import Path as FilePath
from typing import Any

from harness.base import (
    VERSIONS,
    Document,
    DocumentReader,
    InvalidValue,
    Layout,
    Problem,
    build_field,
    decimal_field,
    describe_value,
    integer_field,
    line_field,
    mapping_field,
    parse_mapping,
    parse_version,
    read_document,
)
from harness.suites.config.agents import AgentEntry, read_agents
from harness.suites.config.model_entries import MODEL, ModelEntry, read_foreign_model, read_model
from harness.suites.config.models import OFFLINE
from harness.suites.config.servers import read_named_server, resolve_cwd
from harness.types import JsonObject, JsonPath, Location, ServerSpec, dataclass

_NAMED = "Use 'servers:', with a mapping for each server's name."
CONFIGURATION = Layout(
    fields={
        "mxcp": build_field("Version of the format: 1.", {"enum": list(VERSIONS)}, parse_version),
        "models": mapping_field("Models, and which one is the default."),
        "servers": mapping_field("MCP servers by name."),
        "agents": mapping_field("Third-party agents, by name."),
        "defaults": mapping_field(
            "Defaults for suites and command lines that do not say otherwise."
        ),
    },
    elsewhere={
        "model": "Use 'default:' under 'models:'.",
        "agent": "Use 'agents:', with a mapping for each agent's name.",
        "server": _NAMED,
        "mcpServers": _NAMED,
    },
)
"""Layout of the whole file."""

MODELS = Layout(
    fields={
        "default": line_field("The model for suites that name none."),
        "models": mapping_field("Models by name."),
    },
    elsewhere={"type": "Put it below the model's name, under 'models: models:'."},
)
"""Layout of ``models:``."""

DEFAULTS = Layout(
    fields={
        "concurrency": integer_field("Trials at the same time.", least=1),
        "timeout": decimal_field("Seconds that one trial may take.", unit="seconds"),
    },
    elsewhere={"model": "Use 'default:' under 'models:'."},
)
"""Layout of ``defaults:``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerEntry:
    """A server of a configuration file."""

    spec: ServerSpec = field(repr=False)
    """The server, with references unexpanded."""
    locate: Callable[[JsonPath], Location] = field(repr=False)
    """Returns the place of a part of its mapping."""
    env_file: str | None = field(default=None, repr=False)
    """A file of further environment variables; those of ``spec`` take precedence."""
    asked: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variable → advice if it is not set, for inputs that a client would prompt for."""
    hidden: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variable → its default, for inputs that a client hides while typing.

    Their values are secrets whatever their names are.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigFile:
    """The content of one configuration file."""

    file: str
    """Its path, as the user would type it."""
    models: Mapping[str, ModelEntry] = field(default_factory=dict)
    """Name → model."""
    servers: Mapping[str, ServerEntry] = field(default_factory=dict)
    """Name → server."""
    agents: Mapping[str, AgentEntry] = field(default_factory=dict)
    """Name → agent."""
    disabled: Mapping[str, Location] = field(default_factory=dict)
    """Name → place of a disabled server."""
    default_model: str | None = None
    """The model for suites that name none."""
    concurrency: int | None = None
    """Trials at the same time."""
    timeout_s: float | None = None
    """Wall time of a trial."""


def read_config_file(file: FilePath, *, project: bool = False) -> ConfigFile:
    """Read a configuration file of harness; unknown keys are mistakes.

    Servers of a ``project`` file start in its folder by default.

    Raises:
        InvalidInput: with every mistake in it.
    """
    document = read_document(file)
    reading = DocumentReader(document)
    content = _read_section(reading, (), document.value, CONFIGURATION)
    # MXCP's form: the models stand one level deeper, beside the name of the default.
    models = _read_section(reading, ("models",), content.get("models"), MODELS)
    defaults = _read_section(reading, ("defaults",), content.get("defaults"), DEFAULTS)
    folder = file.absolute().parent
    config = ConfigFile(
        file=document.file,
        models={
            name: read_model(reading, ("models", "models", name), value)
            for name, value in models.get("models", {}).items()
        },
        servers=_read_servers(reading, content.get("servers", {}), folder, project=project),
        agents=read_agents(reading, content.get("agents", {}), folder),
        default_model=models.get("default"),
        concurrency=defaults.get("concurrency"),
        timeout_s=defaults.get("timeout"),
    )
    # A model of that name would make runs cost money that nobody expects to.
    if OFFLINE in config.models:
        path = "models", "models", OFFLINE
        reading.add_key_problem(path, f"the model {OFFLINE!r} is built in.", "Choose another name.")
    reading.finish()
    return config


def read_foreign_config_file(path: FilePath) -> ConfigFile:
    """Read the models of another tool's configuration file; the rest of it is ignored.

    Mistakes in a model are reported when it is used.

    Raises:
        InvalidInput: it is not YAML, or its ``models`` cannot be read.
    """
    document = read_document(path)
    reading = DocumentReader(document)
    # Only those: what else is wrong in another tool's file is that tool's business.
    reading.problems = _within_models(document)
    content = document.value if isinstance(document.value, dict) else {}
    known = _keep_known_keys(content.get("models"), MODELS)
    models = _read_section(reading, ("models",), known, MODELS)
    reading.finish()
    return ConfigFile(
        file=document.file,
        models={
            name: read_foreign_model(
                document, ("models", "models", name), _keep_known_keys(value, MODEL)
            )
            for name, value in models.get("models", {}).items()
        },
        default_model=models.get("default"),
    )


def _keep_known_keys(value: Any, layout: Layout) -> Any:
    """Leave out unknown keys."""
    if not isinstance(value, dict):
        return value
    return {key: part for key, part in value.items() if key in layout.fields}


def _read_section(
    reading: DocumentReader, path: JsonPath, value: Any, layout: Layout
) -> dict[str, Any]:
    """Read a mapping that may be absent."""
    noun = f"'{path[0]}'" if path else "the configuration"
    try:
        given = parse_mapping({} if value is None else value)
        return reading.read_mapping(path, given, layout, noun)
    # The section is left out and the rest is read, so that all mistakes are told at once.
    except InvalidValue as error:
        reading.add_problem(path, f"{noun}: {error.message}.", error.meant)
        return {}


def _read_servers(
    reading: DocumentReader, section: JsonObject, base: FilePath, *, project: bool
) -> dict[str, ServerEntry]:
    entries = {}
    for name, value in section.items():
        path = ("servers", name)
        if not isinstance(value, dict):
            message = f"server {name!r}: expected a mapping, found {describe_value(value)}."
            reading.add_problem(path, message)
            continue
        # A project's server starts beside its file from wherever the command is given.
        spec = resolve_cwd(read_named_server(reading, path, value), base, by_default=project)
        entries[name] = ServerEntry(spec=spec, locate=partial(locate_below, reading.document, path))
    return entries


def locate_below(document: Document, path: JsonPath, part: JsonPath) -> Location:
    """Return a function for the place of a part of the value at ``path``."""
    return document.locate((*path, *part))


def _within_models(document: Document) -> list[Problem]:
    """Return the YAML problems of the section that harness reads."""
    if not isinstance(document.value, dict) or "models" not in document.value:
        return []
    # By lines, since the problems of a YAML file have no path.
    begin = document.locate_key(("models",)).line or 0
    lines = [document.locate_key((key,)).line or 0 for key in document.value]
    end = min((line for line in lines if line > begin), default=None)
    return [
        problem
        for problem in document.problems
        if (line := problem.at.line or 0) >= begin and (end is None or line < end)
    ]
