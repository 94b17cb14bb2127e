"""``agents:`` of a configuration, and agents that are named on the command line."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any

from harness.agents import AGENT, KINDS, AgentKind, resolve_agent_command
from harness.base import (
    KNOWN,
    DocumentReader,
    InvalidValue,
    Layout,
    UsageError,
    Values,
    any_of,
    arguments_field,
    array_of,
    build_field,
    decimal_field,
    describe_value,
    did_you_mean,
    digest_json,
    line_field,
    lines_field,
    mapping_field,
    parse_items,
    parse_mapping,
    texts_by_name_field,
)
from harness.suites.config.expansion import build_setting_error, expand_references
from harness.types import (
    CLIENT_CAN,
    AgentSpec,
    JsonObject,
    JsonPath,
    Location,
    ModelSpec,
    dataclass,
)


def _parse_command(value: Any) -> tuple[str, ...]:
    """Parse a command line, or a list of its words. It may be secret: no message shows it."""
    if isinstance(value, str):
        try:
            words = tuple(shlex.split(value))
        except ValueError as error:
            raise InvalidValue(f"this command line cannot be split: {error}") from error
    elif isinstance(value, list):
        words = _ARGUMENTS.parse(value)
    else:
        message = f"expected a command line or a list of words, found {describe_value(value)}"
        raise InvalidValue(message)
    if not words or not words[0].strip():
        raise InvalidValue("expected a program and its arguments, found nothing")
    return words


def _parse_ability(value: Any) -> str:
    if value not in _CAN:
        message = f"expected elicitation or sampling, found {describe_value(value)}"
        raise InvalidValue(message, meant="Write [] for an agent that cannot be asked.")
    return str(value)


_CAN = ("elicitation", "sampling")
_ARGUMENTS = arguments_field("Further arguments, behind those of the driver.")
AGENT_LAYOUT = Layout(
    fields={
        "type": line_field(
            "The kind of agent: command, claude-code, codex, acp, python.", required=True
        ),
        "command": build_field(
            "The program and its first arguments.",
            any_of({"type": "string"}, array_of({"type": "string"})),
            _parse_command,
        ),
        "args": _ARGUMENTS,
        "function": line_field("python: the function, as module:function."),
        "model": line_field("The model that the agent uses."),
        "env": texts_by_name_field(
            "Environment variables that it gets, besides the few that all get."
        ),
        "tools": lines_field("Tools of its own that it may use; by default none."),
        "client_can": build_field(
            "What the server may ask of it: elicitation, sampling.",
            array_of({"enum": list(_CAN)}),
            partial(parse_items, _parse_ability),
        ),
        "settings": mapping_field("Further settings in the agent's own words."),
        "files": line_field("A folder that is copied into the working folder of each trial."),
        "home": line_field("A folder that is copied into the home of each trial."),
        "max_output_mb": decimal_field(
            "Megabytes that it may write on stdout in one turn.", unit="megabytes", default=10
        ),
    },
    elsewhere={
        "program": "Use 'command'.",
        "prompt": "Write {prompt} in 'command'; without it, the prompt is written on stdin.",
        "timeout": "Use 'timeout' of the case, or below 'defaults:'.",
        "temperature": "An agent's temperature cannot be set from outside.",
        "provider": "Use 'type'.",
        "name": "The agent's name is the key above this mapping.",
    },
)
"""Layout of the mapping under ``agents: NAME:``."""

_OF_ALL = ("type", "command", "args", "env", "files", "home", "max_output_mb", "client_can")
"""Settings that every kind accepts."""
_LONGEST = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEntry:
    """One agent, as in a file or on the command line, with references unexpanded."""

    name: str
    """The user's name for it."""
    settings: Values = field(repr=False)
    """Setting → value."""
    base: Path
    """The folder to which its relative paths refer."""
    locate: Callable[[JsonPath], Location] | None = field(default=None, repr=False)
    """Returns the place of a setting; ``None`` if there is no file."""


def read_agents(reading: DocumentReader, section: JsonObject, base: Path) -> dict[str, AgentEntry]:
    """Return the agents of ``agents:``, by name; ``reading`` collects mistakes."""
    return {name: _read_agent(reading, name, value, base) for name, value in section.items()}


def _read_agent(reading: DocumentReader, name: str, value: Any, base: Path) -> AgentEntry:
    path, noun = ("agents", name), f"agent {name!r}"
    settings: dict[str, Any] = {}
    try:
        settings = reading.read_mapping(path, parse_mapping(value), AGENT_LAYOUT, noun)
    except InvalidValue as error:
        reading.add_problem(path, f"{noun}: {error.message}.", error.meant)
    # A missing type is a problem already.
    if (written := settings.get("type")) is not None:
        _check_kind(reading, path, written, settings)
    return AgentEntry(
        name=name,
        settings=settings,
        base=base,
        locate=lambda part: reading.document.locate((*path, *part)),
    )


def _check_kind(reading: DocumentReader, path: JsonPath, written: str, settings: Values) -> None:
    noun = f"agent {path[-1]!r}"
    # Nothing more can be said: which settings it takes depends on the kind.
    if written not in KINDS:
        unknown = KINDS.build_unknown_error(written)
        reading.add_problem((*path, "type"), f"{noun}: {unknown.message}.", unknown.meant)
        return
    kind = KINDS.get(written)
    for name in settings.keys() - {*_OF_ALL, *kind.settings}:
        takes = ", ".join((*_OF_ALL, *kind.settings))
        message = f"{noun}: type {written} takes no {name!r}."
        reading.add_key_problem((*path, name), message, f"It takes: {takes}.")
    # Here and not as `required` of the layout, which is the same for all kinds.
    for name in kind.needs:
        if name not in settings:
            meant = f"Add '{name}: …'."
            reading.add_problem(path, f"{noun}: type {written} needs {name!r}.", meant)


def resolve_named_agent(
    text: str, entries: Mapping[str, AgentEntry], environ: Mapping[str, str], cwd: Path
) -> ModelSpec:
    """Return the agent that ``--agent`` names: a configured one, a kind, or a command.

    Raises:
        UsageError: there is none, or its settings cannot be used.
    """
    # A configured name goes before a kind, and a kind before a program of that name.
    if text in entries:
        return resolve_agent(entries[text], environ)
    if text in KINDS and KINDS.get(text).program is not None:
        return resolve_agent(AgentEntry(name=text, settings={"type": text}, base=cwd), environ)
    try:
        words = _parse_command(text)
    except InvalidValue as error:
        raise UsageError(f"--agent {text!r}: {error.message}") from error
    usual = {
        kind.program: name for name in KINDS.built_in_names if (kind := KINDS.get(name)).program
    }
    if words[0] in usual:
        name = usual[words[0]]
        meant = f"Write --agent {name}; put further arguments below 'agents:' in harness.yml."
        raise UsageError(f"{words[0]} is started by a driver of its own", meant=meant)
    # Asked before a run begins, or each of its trials would fail for the same reason.
    is_file = "/" in words[0] and (cwd / words[0]).is_file()
    if shutil.which(words[0], path=environ.get("PATH")) is None and not is_file:
        raise _build_no_agent(text, words[0], tuple(entries))
    # `agent.py` for `python agent.py {prompt}`, else the program.
    scripts = (word for word in words[1:] if "." in word and (cwd / word).is_file())
    name = Path(next(scripts, words[0])).name[:_LONGEST]
    settings = {"type": "command", "command": words}
    return resolve_agent(AgentEntry(name=name, settings=settings, base=cwd), {})


def _build_no_agent(text: str, program: str, configured: tuple[str, ...]) -> UsageError:
    kinds = tuple(name for name in KINDS.built_in_names if KINDS.get(name).program)
    near = did_you_mean(text, (*configured, *kinds))
    known = f"Configured: {', '.join(configured)}." if configured else "No agent is configured."
    how = (
        f"Built in: {', '.join(kinds)}. Or write a command whose program is in PATH. "
        "'harness models' lists them all."
    )
    what = f"agent named {text!r}" if program == text else f"program {program!r}"
    return UsageError(f"there is no {what}", meant=" ".join(filter(None, (near, known, how))))


def resolve_agent(entry: AgentEntry, environ: Mapping[str, str]) -> ModelSpec:
    """Return the agent of ``entry``, with its references replaced.

    Raises:
        UsageError: variables are not set, or a folder is missing.
    """
    written = entry.settings["type"]
    kind = KINDS.get(written)
    problems: list[InvalidValue] = []

    def expand_setting(setting: str, default: Any) -> Any:
        given = entry.settings.get(setting, default)
        return expand_references(given, environ, problems, (setting,))

    command = expand_setting("command", (kind.program,) if kind.program else ())
    # By name alone: an agent does not see the other keys of whoever runs it.
    passed = {name: environ[name] for name in kind.passes if environ.get(name)}
    spec = AgentSpec(
        kind=written,
        command=command,
        args=expand_setting("args", ()),
        function=entry.settings.get("function"),
        model=expand_setting("model", None),
        # The configured value goes before the one that is passed on.
        env={**passed, **expand_setting("env", {})},
        tools=entry.settings.get("tools", ()),
        client_can=entry.settings.get("client_can", CLIENT_CAN),
        settings=expand_setting("settings", {}),
        files=expand_setting("files", None),
        home=expand_setting("home", None),
        max_output_mb=entry.settings.get("max_output_mb", 10.0),
        base=str(entry.base.absolute()),
        deeds=_describe_actions(entry, kind),
        at=None if entry.locate is None else entry.locate(()),
    )
    for setting in ("files", "home"):
        folder = getattr(spec, setting)
        if folder is not None and not (entry.base / folder).is_dir():
            problems.append(InvalidValue(f"there is no folder {folder!r}.", path=(setting,)))
    if problems:
        raise build_setting_error(f"agent {entry.name!r}", problems, entry.locate)
    model = ModelSpec(name=entry.name, provider=AGENT, model_id=written, agent=spec)
    # As soon as the values are known, so that no later message shows them.
    KNOWN.add_specs(models=[model], environ=environ)
    return model


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAgent:
    """An agent that ``--agent`` may name, whether or not it can be started."""

    name: str
    """The value for ``--agent``."""
    kind: str
    """Its ``type``."""
    program: str | None
    """The program to start, as written; ``None`` for a Python function."""
    found: bool
    """Whether the program exists."""
    source: str | None
    """Where it is configured; ``None`` if it needs no configuration."""
    spec: AgentSpec | None
    """Its settings, if they can be used."""
    error: UsageError | None = None
    """Why its settings cannot be used."""


def list_known_agents(
    entries: Mapping[str, AgentEntry], environ: Mapping[str, str], cwd: Path
) -> tuple[KnownAgent, ...]:
    """Return the configured agents, and those that need no configuration, by their names."""
    usual = {
        name: AgentEntry(name=name, settings={"type": name}, base=cwd)
        for name in KINDS.list_names()
        if KINDS.get(name).program is not None
    }
    return tuple(_describe_agent(entry, environ) for entry in ({**usual, **entries}).values())


def _describe_agent(entry: AgentEntry, environ: Mapping[str, str]) -> KnownAgent:
    spec, error = None, None
    try:
        spec = resolve_agent(entry, environ).agent
    # Listed with its problem: one broken agent must not hide the others.
    except UsageError as mistake:
        error = mistake
    # What cannot be used has no command, and its error is shown in its place.
    words = () if spec is None else resolve_agent_command(spec)
    return KnownAgent(
        name=entry.name,
        kind=entry.settings["type"],
        program=words[0] if words else None,
        found=not words or shutil.which(words[0], path=environ.get("PATH")) is not None,
        source=None if entry.locate is None else str(entry.locate(())),
        spec=spec,
        error=error,
    )


def _describe_actions(entry: AgentEntry, kind: AgentKind) -> tuple[str, ...]:
    """Return the actions that a file requests, with references unexpanded."""
    settings = entry.settings
    usual = (kind.program or settings.get("function") or "",)
    words = shlex.join((*settings.get("command", usual), *settings.get("args", ())))
    rest = {
        name: value for name, value in settings.items() if name not in ("type", "command", "args")
    }
    # The names, and a digest of the values: these may be secret, but a change has to be noticed.
    told = f" ({json.dumps(sorted(rest))}, {digest_json(rest)[:12]})" if rest else ""
    return (f"run the agent {entry.name}: {words}{told}",)
