"""Every option of a run, declared once, for all entrances.

The command line, the pytest plugin and the page are made from this table; the parameters of
`harness.run`, its docstring and the tables of the docs are compared with it by tests.

Nothing of harness is imported at the top: each start of pytest loads this module.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from harness.runner.planning.option_types import (
    ATTRIBUTES,
    FILE,
    FLAG,
    MOST_IN_A_PROCESS,
    NOT_A_FILE,
    SHARD,
    TEXT,
    TRIAL_RANGE,
    OptionType,
    choice_type,
    number_type,
    read_option_file,
)

Entrance: TypeAlias = Literal["command line", "python", "pytest", "page"]
"""What a run is asked for through: ``harness evals``, `harness.run`, pytest, or the page's API."""
Part: TypeAlias = Literal["request", "budget", "options"]
"""What an option is a part of: a `RunRequest`, a `Budget` or `RunOptions`."""


@dataclass(frozen=True, slots=True)
class RunOption:
    """One option, the same at every entrance that has it."""

    usage: str
    """Its name as on the command line, without ``--``, and the placeholder of its value; a flag has
    none."""
    type: OptionType
    """Which values it takes."""
    help: str
    """What it does, in words that fit every entrance."""
    default: str | None = None
    """What holds if it is not given, where that has a value."""
    fields: tuple[str, ...] = ()
    """The fields of its part; none means the one of its own name."""
    part: Part = "request"
    """Where its value goes."""
    repeated: bool = False
    """Whether it takes several values."""
    short: str | None = None
    """Its short form on the command line."""
    in_python: str | None = None
    """Its name in Python, if that is another one."""
    narrowed: Mapping[Entrance, OptionType] = field(default_factory=dict)
    """Which values it takes at entrances that allow less."""
    absent: Mapping[Entrance, str] = field(default_factory=dict)
    """Entrances that cannot have it: why."""

    @property
    def name(self) -> str:
        """Its name as on the command line, without ``--``."""
        return self.usage.partition(" ")[0]

    @property
    def metavar(self) -> str | None:
        """The placeholder of its value; ``None`` for a flag."""
        return self.usage.partition(" ")[2] or None

    @property
    def key(self) -> str:
        """Its name with underscores: the parameter in Python, and the field of the page."""
        return self.name.replace("-", "_")

    def spelled_at(self, entrance: Entrance) -> str:
        """Return its name as a user of ``entrance`` writes it."""
        if entrance == "page":
            return self.key
        if entrance == "python":
            return self.in_python or self.key
        return f"--harness-{self.name}" if entrance == "pytest" else f"--{self.name}"

    def help_at(self, entrance: Entrance) -> str:
        """Return its help at ``entrance``, with how often it may be given and its default."""
        repeated = self.repeated and entrance != "python"
        text = f"{self.help} May be repeated." if repeated else self.help
        return text if self.default is None else f"{text}  [default: {self.default}]"

    def read(self, entrance: Entrance, given: Any) -> Any:
        """Return its value; ``None`` if it is not given.

        Every entrance but Python gives texts.

        Raises:
            UsageError: the option does not take that value.
        """
        if given is None:
            return None
        if entrance in self.absent:
            raise self._refusal(entrance, f"not possible here: {self.absent[entrance]}")
        if not self.repeated:
            return self.read_one(entrance, given)
        # In Python a single value may stand without a list.
        several = given if isinstance(given, list | tuple | set | frozenset) else (given,)
        return tuple(self.read_one(entrance, one, whole=given) for one in several)

    def read_one(self, entrance: Entrance, given: Any, *, whole: Any = None) -> Any:
        """Return one value of an option that may take several; ``whole`` is all of them.

        Raises:
            UsageError: the option does not take that value.
        """
        kind = self.narrowed.get(entrance, self.type)
        value = given
        try:
            if entrance != "python" and isinstance(given, str):
                # The page's host has files that are none of the client's business.
                in_file = kind.takes_file and given.startswith("@") and entrance != "page"
                value = kind.parse(read_option_file(given[1:]) if in_file else given)
            if kind.accepts(value):
                return kind.convert(value)
        except ValueError as error:
            raise self._refusal(entrance, str(error)) from error
        expected = "a text, or a list of texts" if self.repeated else kind.expected
        found = value if whole is None else whole
        raise self._refusal(entrance, f"expected {expected}, found {found!r}")

    def _refusal(self, entrance: Entrance, reason: str) -> Exception:
        from harness.base import UsageError  # imported here: a start of pytest does not need it

        return UsageError(f"{self.spelled_at(entrance)}: {reason}")


MOST_ON_PAGE = 16
"""Trials at the same time in one run of the page, whose host others may use too."""
_OWN_FILES = "an upload cannot name files or programs of the host"

OPTIONS = (
    RunOption(
        "model NAME",
        TEXT,
        "Model under test.",
        default="the suite's, else the configured one, else lexical",
        fields=("models",),
        repeated=True,
        short="-m",
    ),
    RunOption(
        "agent NAME|COMMAND",
        TEXT,
        "Agent under test, beside models: claude-code, codex, one of agents: in harness.yml, "
        "or a command. 'harness models' lists them.",
        fields=("agents",),
        repeated=True,
        absent={"page": _OWN_FILES},
    ),
    RunOption(
        "category NAME,…",
        TEXT,
        "Run only these parts of a leaderboard.",
        fields=("categories",),
        absent=NOT_A_FILE,
    ),
    RunOption(
        "attack NAME,…", TEXT, "Run also under these attacks of a leaderboard.", absent=NOT_A_FILE
    ),
    RunOption(
        "pattern PATTERN",
        TEXT,
        "Run only cases whose name or tag matches.",
        short="-k",
        absent={"pytest": "-k of pytest does it"},
    ),
    RunOption(
        "server COMMAND|URL|NAME",
        TEXT,
        'Use this server, for example "python my_server.py"; several are joined.',
        repeated=True,
    ),
    RunOption(
        "mcp-config FILE",
        FILE,
        "Take servers from the configuration of an MCP client: .mcp.json, VS Code and others.",
        absent={"page": _OWN_FILES},
    ),
    RunOption(
        "protocol auto|legacy|2026-07-28",
        choice_type("auto", "legacy", "2026-07-28"),
        "Revision of MCP to speak with every server, in place of what its entry says; legacy "
        "is the older handshake.",
    ),
    RunOption(
        "start-timeout SECONDS",
        number_type(least=1, whole=False),
        "Seconds from the start of every server to its list of tools, such as 300 for one that is "
        "installed meanwhile (npx, uvx).",
        default="as configured, else 30",
        fields=("start_timeout_s",),
        in_python="start_timeout_s",
    ),
    RunOption(
        "user-context JSON|@FILE",
        ATTRIBUTES,
        "Caller of every case, in place of the suites' own.",
        short="-u",
    ),
    RunOption(
        "timeout MS",
        number_type(least=1, whole=False, divisor=1000),
        "Milliseconds for one trial.",
        default="the suite's, else as configured, else 60000",
        fields=("timeout_s",),
        in_python="timeout_ms",
        absent={"page": "--case-timeout of 'harness serve' does it for all runs"},
    ),
    RunOption(
        "trials N|MIN..MAX",
        TRIAL_RANGE,
        "Run every case N times; or, as MIN..MAX, at least MIN times, and up to MAX until its "
        "verdict is decided.",
        default="the suite's, or 1",
        fields=("least_trials", "trials"),
    ),
    RunOption(
        "shard I/N",
        SHARD,
        "Run part I of N, to split a run over machines; see harness merge.",
        absent={
            "pytest": "its cases are those that pytest selects",
            "page": "a run of the page is whole, on this machine",
        },
    ),
    RunOption("read-only", FLAG, "Never send a call to a tool that is not marked read-only."),
    RunOption("judge-model NAME", TEXT, "Model that judges answers; none: no judge."),
    RunOption("user-model NAME", TEXT, "Model that plays simulated users."),
    RunOption(
        "max-cases N",
        number_type(least=1),
        "Most cases of one dataset.",
        default="100",
        absent={"page": "--max-cases of 'harness serve' does it for all runs"},
    ),
    RunOption(
        "lenient",
        FLAG,
        "Leave out what a suite of another tool has and harness cannot check; it is listed.",
        absent={
            "pytest": "pytest collects no suites of other tools",
            "page": "an upload is read as a whole or not at all",
        },
    ),
    RunOption("block TOOL", TEXT, "Never send a call to this tool.", repeated=True),
    RunOption(
        "variant NAME|FILE",
        TEXT,
        "Show the model the tool list of this variant. 'none' is the server's own list.",
        fields=("variants",),
        repeated=True,
        absent={"page": _OWN_FILES},
    ),
    RunOption(
        "faults standard|none|FILE",
        TEXT,
        "Run each case clean, and once under each fault that can fire in it, or of a file.",
        default="those of the suite",
        narrowed={"page": choice_type("standard", "none")},
    ),
    RunOption(
        "fault RULE",
        TEXT,
        "Run each case clean, and once under this fault: 'search_orders#1: timeout' hits the first "
        "call, '*@0.2: error' a fifth of all.",
        repeated=True,
    ),
    RunOption(
        "attacks standard|none|FILE",
        TEXT,
        "Run each case clean, and once under each attack, of the built-in pack or of a file.",
        default="none",
        narrowed={"page": choice_type("standard", "none")},
    ),
    RunOption(
        "concurrency N",
        number_type(least=1, most=100_000),
        f"Trials at the same time, at most {MOST_IN_A_PROCESS} in one process.",
        default="as configured, or 4",
        short="-c",
        narrowed={"page": number_type(least=1, most=MOST_ON_PAGE)},
    ),
    RunOption(
        "max-cost USD",
        number_type(least=0, whole=False),
        "Start no further trial at this cost.",
        fields=("max_cost_usd",),
        part="budget",
    ),
    RunOption(
        "max-tokens N",
        number_type(least=1),
        "Start no further trial at this many tokens, in and out.",
        part="budget",
    ),
    RunOption(
        "max-errors N",
        number_type(least=1),
        "Stop after N trials that could not be judged.",
        part="budget",
        absent={"pytest": "--maxfail of pytest does it"},
    ),
    RunOption(
        "fail-fast",
        FLAG,
        "Stop at the first case that does not pass.",
        part="budget",
        short="-x",
        absent={"pytest": "-x of pytest does it"},
    ),
    RunOption(
        "grace SECONDS",
        number_type(least=0, whole=False),
        "Seconds that running trials may go on after Ctrl-C.",
        default="10",
        fields=("grace_s",),
        part="options",
        absent={
            "python": "a program handles its own signals",
            "pytest": "pytest handles Ctrl-C",
            "page": "no terminal is there to press Ctrl-C in",
        },
    ),
    RunOption(
        "engine process|ray[:ADDRESS]",
        TEXT,
        "What carries out the trials: this process, Ray on this machine, or the cluster "
        "ray:auto or ray:HOST:PORT.",
        default="process",
        part="options",
        absent={
            "pytest": "pytest decides which test runs when; see pytest-xdist",
            "page": "a run of the page is one process, which the page can end",
        },
    ),
)
"""All of them, in the order of ``harness evals --help``."""


def options_of(entrance: Entrance) -> tuple[RunOption, ...]:
    """Return the options that ``entrance`` has."""
    return tuple(option for option in OPTIONS if entrance not in option.absent)


def option_named(key: str) -> RunOption:
    """Return the option whose `RunOption.key` is ``key``."""
    return next(option for option in OPTIONS if option.key == key)


def read_options(entrance: Entrance, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return key → value of all options that are ``given``, by their keys.

    Raises:
        UsageError: one of them does not take that value.
    """
    found = {option.key: option.read(entrance, given.get(option.key)) for option in OPTIONS}
    return {key: value for key, value in found.items() if value is not None}


def fields_of(part: Part, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a ``part`` that the ``values`` of options set: key → value."""
    found: dict[str, Any] = {}
    for option in OPTIONS:
        value = values.get(option.key)
        # An empty list asks for nothing, so the field keeps its default.
        if option.part != part or value is None or value == ():
            continue
        names = option.fields or (option.key,)
        found |= zip(names, value, strict=True) if len(names) > 1 else {names[0]: value}
    return found


def texts_of(entrance: Entrance, recorded: Mapping[str, Any]) -> dict[str, str | list[str]]:
    """Return key → text of the options of an earlier run whose ``recorded`` fields are set."""
    found: dict[str, str | list[str]] = {}
    for option in options_of(entrance):
        values = [recorded.get(name) for name in option.fields or (option.key,)]
        if option.repeated:
            found[option.key] = list(values[0] or ())
        elif isinstance(values[0], Mapping):
            found[option.key] = json.dumps(values[0])
        else:
            # A flag that is off is written by leaving it out.
            given = [value for value in values if value is not None and value is not False]
            found[option.key] = "..".join(
                "true" if value is True else str(value) for value in given
            )
    return {key: text for key, text in found.items() if text}
