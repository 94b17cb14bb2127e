"""AgentDojo as suites, and as recordings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from harness.base import UsageError, did_you_mean, digest_json
from harness.leaderboards.agentdojo.checks import WRONG_GRADERS, build_checks
from harness.leaderboards.agentdojo.hijacks import build_hijack_suite
from harness.leaderboards.agentdojo.official import BEGIN_TOOL
from harness.leaderboards.agentdojo.process import official_command
from harness.leaderboards.agentdojo.recordings import (
    PipelineRecording,
    format_case_name,
    load_pipelines,
)
from harness.leaderboards.agentdojo.source import NAME, find_packages, read_contents
from harness.types import (
    Case,
    JsonObject,
    LeaderboardRules,
    Limits,
    Location,
    ScriptedCall,
    ServerSpec,
    Suite,
    TransportSpec,
    dataclass,
)

EVERY: Final = "all"
"""In place of an attack: all of them."""
MAX_REPLIES: Final = 16
"""The package carries out the calls of 15 replies and asks once more."""
TIMEOUT_S: Final = 300.0
TYPICAL_TOKENS: Final = (12_000, 500)
"""Input and output tokens of one run: a guess, which was not measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DojoSelection:
    """What a part of the leaderboard's name selects: ``banking:v1.2:direct+dos@gpt-4o``."""

    suite: str
    """Its suite."""
    version: str
    """Of the benchmark."""
    attacks: tuple[str, ...] = ()
    """Attacks; empty: the user's tasks alone."""
    model: str = ""
    """The model that attacks address by name; empty: by none."""


def parse_selection(text: str, contents: Mapping[str, Any]) -> DojoSelection:
    """Return what a part of the leaderboard's name selects.

    Raises:
        UsageError: there is no such suite, version or attack.
    """
    whole, _, model = text.partition("@")
    name, *rest = whole.split(":")
    versions, known = list(contents["versions"]), [*contents["attacks"], EVERY]
    version = versions[-1]
    attacks: tuple[str, ...] = ()
    if rest and rest[0] in versions:
        version = rest.pop(0)
    if rest:
        attacks = tuple(dict.fromkeys(filter(None, rest.pop(0).split("+"))))
    if rest:
        raise UsageError(
            f"{text!r} names more than suite, version and attacks of AgentDojo",
            meant="Write agentdojo:SUITE:VERSION:ATTACK: agentdojo:banking:v1.2:direct.",
        )
    _require(name, list(contents["versions"][version]), "suite")
    for attack in attacks:
        # A misspelt version stands where an attack may.
        _require(attack, [*known, *versions], "attack or version")
    if EVERY in attacks:
        attacks = tuple(contents["attacks"])
    return DojoSelection(suite=name, version=version, attacks=attacks, model=model)


def _require(name: str, known: Sequence[str], what: str) -> None:
    if name not in known:
        near = did_you_mean(name, known) or f"There are: {', '.join(known)}."
        raise UsageError(f"AgentDojo has no {what} {name!r}", meant=near)


@dataclass(frozen=True, slots=True)
class AgentDojo:
    """AgentDojo; a `Leaderboard` that is replayable, attackable and hijackable."""

    def suites(self, part: str | None) -> Sequence[Suite]:
        """Return one suite for each selection in ``part``, joined by commas; ``None`` means all.

        Raises:
            UsageError: there is no such suite, version or attack.
            NothingToRun: the package was not fetched.
        """
        contents = read_contents()
        return [_build_suite(one, contents) for one in _list_selections(part, contents)]

    def add_attacks(self, part: str | None, attacks: str, model: str) -> str:
        """Return ``part`` with ``attacks``, joined by commas, that address ``model``."""
        named = "+".join(map(str.strip, attacks.split(",")))
        address = f"@{model}" if model and "@" not in named else ""
        suites = list(list(read_contents()["versions"].values())[-1])
        parts = suites if part is None else part.split(",")
        return ",".join(f"{one.strip()}:{named}{address}" for one in parts)

    def build_hijacks(self, part: str | None) -> Sequence[Suite]:
        """Return a suite of calls for each selection in ``part``: both ground truths of each pair.

        Raises:
            UsageError: there is no such suite or version.
            NothingToRun: the package was not fetched.
        """
        contents = read_contents()
        return [
            build_hijack_suite(
                _build_suite(one, contents),
                one.version,
                one.suite,
                contents["versions"][one.version][one.suite],
            )
            for one in _list_selections(part, contents)
        ]

    def load_recordings(self, path: Path) -> Mapping[str, PipelineRecording]:
        """Return the pipelines whose logged runs are in a file, or in a folder.

        Raises:
            UsageError: there is no run, or one cannot be read.
        """
        return load_pipelines(path, read_contents())


AGENTDOJO = AgentDojo()


def _list_selections(part: str | None, contents: Mapping[str, Any]) -> list[DojoSelection]:
    """Return what each name in ``part`` selects; without one, every suite of the newest version."""
    newest = list(contents["versions"].values())[-1]
    names = newest if part is None else dict.fromkeys(map(str.strip, part.split(",")))
    return [parse_selection(name, contents) for name in names]


def _build_suite(selection: DojoSelection, contents: Mapping[str, Any]) -> Suite:
    cases = tuple(_iterate_cases(selection, contents))
    attacks = f" under {', '.join(selection.attacks)}" if selection.attacks else ""
    parts = [selection.suite, selection.version, "+".join(selection.attacks)]
    address = f"@{selection.model}" if selection.model else ""
    wrong = ", ".join(WRONG_GRADERS.get(selection.suite, ()))
    tasks = [(case.name, case.prompt) for case in cases]
    return Suite(
        name=f"{NAME}_{selection.suite}",
        cases=cases,
        description=f"AgentDojo {selection.version}, {selection.suite}{attacks}",
        server=_build_server(selection.suite),
        system_prompt=contents["system_prompt"],
        digest=digest_json([selection.version, selection.model, tasks]),
        reference=f"{NAME}:{':'.join(filter(None, parts))}{address}",
        at=Location(file=str(find_packages())),
        leaderboard=NAME,
        scores={"parts": [_count_category(name, cases) for name in _list_categories(cases)]},
        typical_tokens=TYPICAL_TOKENS,
        notes=(f"The official check of {wrong} ({selection.suite}) is known to be wrong.",),
    )


def _list_categories(cases: Sequence[Case]) -> list[str]:
    return list(dict.fromkeys(str(case.metadata["category"]) for case in cases))


def _count_category(name: str, cases: Sequence[Case]) -> JsonObject:
    amount = sum(case.metadata["category"] == name for case in cases)
    return {"name": name, "category": name, "cases": amount}


def _iterate_cases(selection: DojoSelection, contents: Mapping[str, Any]) -> Iterator[Case]:
    """Yield the user's tasks alone, and each under each attack with each injection task.

    With an attack, an injection task is also given to the model as its own task, which shows
    whether the model could do it.
    """
    tasks = contents["versions"][selection.version][selection.suite]
    users, goals = tasks["user_tasks"], tasks["injection_tasks"]
    alone = users | goals if selection.attacks else users
    for name, prompt in alone.items():
        kind = "user task" if name in users else "injection task"
        yield _build_case(selection, prompt, {"user_task": name}, kind)
    for attack in selection.attacks:
        # One that only disturbs has no goal: upstream runs it with the first.
        wanted = list(goals)[:1] if contents["attacks"][attack] else list(goals)
        for name, prompt in users.items():
            for goal in wanted:
                pair = {"user_task": name, "injection_task": goal, "attack": attack}
                yield _build_case(selection, prompt, pair, attack)


def _build_case(selection: DojoSelection, prompt: str, pair: JsonObject, tag: str) -> Case:
    begin = {"suite": selection.suite, "version": selection.version, **pair}
    attacked = "attack" in pair
    if attacked:
        begin["model"] = selection.model
    category = f"{selection.suite} {tag}"
    return Case(
        name=format_case_name(selection.suite, **pair),
        prompt=prompt,
        setup=(ScriptedCall(tool=BEGIN_TOOL, arguments=begin, allow_absent=True),),
        checks=build_checks(attacked=attacked),
        limits=Limits(max_replies=MAX_REPLIES, max_calls=200, timeout_s=TIMEOUT_S),
        leaderboard=LeaderboardRules(silence=True),
        tags=(selection.suite, tag.replace(" ", "_")),
        metadata={"category": category, **pair},
    )


def _build_server(suite: str) -> ServerSpec:
    command, *arguments = official_command(find_packages(), "serve", suite)
    return ServerSpec(
        name=f"{NAME}-{suite}",
        transport=TransportSpec(command=command, args=tuple(arguments)),
        isolation="case",
        # Between trials the environment is dropped; each begins its own.
        reset=ScriptedCall(tool=BEGIN_TOOL, allow_absent=True),
    )
