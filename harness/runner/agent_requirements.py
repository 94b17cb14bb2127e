"""What an agent needs before a run: cases that it can run, its program, and its version."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

import anyio
import anyio.to_thread

from harness.agents import (
    KINDS,
    AgentKind,
    TemporaryFolder,
    Workplace,
    build_environment,
    find_command_files,
    resolve_agent_command,
    run_program,
)
from harness.base import AgentError, InvalidInput, Problem, UsageError
from harness.runner.planning.plan import RunPlan
from harness.runner.variants.edits import get_habit
from harness.suites import OFFLINE
from harness.types import (
    AgentSpec,
    Case,
    Interruption,
    LeaderboardRules,
    Location,
    ModelSpec,
    Suite,
    Variant,
)

_SHOWN = 5


def refuse_unsupported_cases(suites: Sequence[Suite], agents: Sequence[ModelSpec]) -> None:
    """Check that every case of ``suites`` can be run with every one of ``agents``.

    Raises:
        UsageError: with each case that cannot, and why.
    """
    for agent in agents:
        assert agent.agent is not None
        spec, kind, refused = agent.agent, KINDS.get(agent.agent.kind), []
        for suite in suites:
            if suite.system_prompt and not kind.takes_system_prompt(spec):
                how = " (write {system_prompt} into its command)" if spec.kind == "command" else ""
                refused.append(f"{suite.name}: it cannot be given the suite's system prompt{how}")
            refused += [
                f"{case.at or suite.name}: test {case.name!r}: {why}"
                for case in suite.cases
                if not case.calls
                for why in islice(_iterate_reasons(case, spec, kind), 1)
            ]
        if refused:
            more = len(refused) - _SHOWN
            refused[_SHOWN:] = [f"and {more} more"] if more > 0 else []
            listed = "\n".join(f"  - {one}" for one in refused)
            raise UsageError(
                f"the agent {agent.name} cannot run all of these cases:\n{listed}",
                meant="Select other cases with -k, or run these with a model.",
            )


def refuse_clients_habits(entrants: Iterable[tuple[ModelSpec, Variant]]) -> None:
    """Check that no agent has a variant that imitates a client: an agent is a client itself.

    Nor has the baseline a variant that only an LLM can follow.

    Raises:
        InvalidInput: an entrant has such a variant.
    """
    for model, variant in entrants:
        habit = get_habit(variant)
        if model.agent and habit is not None:
            key, does = habit
            why = f"{key!r}, which is for models: an agent such as {model.name} {does} itself."
            meant = "Try the variant with a model, or the agent without it."
        elif model.provider == OFFLINE and (unusable := _find_unusable(variant)) is not None:
            why = f"{unusable!r}, which the baseline {model.name!r} cannot use."
            meant = "Try the variant with an LLM."
        else:
            continue
        at = variant.at or Location(file=f"variant {variant.name}")
        message = f"variant {variant.name!r} has {why}"
        raise InvalidInput([Problem(at=at, message=message, meant=meant)])


def _find_unusable(variant: Variant) -> str | None:
    """Return the key of ``variant`` that only a model can follow which reads as people do."""
    if variant.tool_search is not None:
        return "tool_search"
    if variant.mark_results is not None:
        return "mark_results"
    return "tool_filter" if variant.tool_filter == "model" else None


def _iterate_reasons(case: Case, spec: AgentSpec, kind: AgentKind) -> Iterator[str]:
    if case.leaderboard != LeaderboardRules():
        yield "a leaderboard decides how its conversations go, and the agent's loop is its own"
    if case.interruption != Interruption():
        yield "it interrupts the conversation, which an agent does not allow from outside"
    if any(turn.attach for turn in case.turns):
        yield "it attaches files, which only models are given"
    if case.caller.context:
        yield "it has 'context', which only models are given: an agent reads resources itself"
    if case.caller.use_prompt is not None:
        yield "it has 'use_prompt', which only models are given"
    if not kind.resumes(spec):
        if case.user is not None:
            yield "it has a simulated user, and this kind of agent cannot continue a conversation"
        # A turn that begins anew needs nothing of the one before.
        elif any(not turn.fresh for turn in case.turns[1:]):
            yield "it has several turns, and this kind of agent cannot continue a conversation"


VERSION_S = 60.0
"""Seconds that a program may take to print its version."""
_LONGEST = 200
_MOST_BYTES = 1_000_000


async def add_agent_versions(plan: RunPlan) -> RunPlan:
    """Return ``plan`` with the version of each of its agents, and the digest of its files.

    Raises:
        UsageError: an agent's program is missing.
    """
    agents = {
        model.name: replace(model, agent=await _add_version(model, model.agent))
        for model in plan.models
        if model.agent is not None
    }
    if not agents:
        return plan
    jobs = (replace(job, model=agents.get(job.model.name, job.model)) for job in plan.jobs)
    return replace(plan, jobs=tuple(jobs))


async def _add_version(model: ModelSpec, spec: AgentSpec) -> AgentSpec:
    kind, path = KINDS.get(spec.kind), spec.env.get("PATH") or os.environ.get("PATH")
    program = next(iter(resolve_agent_command(spec)), None)
    # By the PATH that the agent gets, which may be another one than ours.
    if program is not None and shutil.which(program, path=path) is None:
        raise UsageError(
            f"agent {model.name!r}: there is no program {program!r}",
            meant=f"Install it: {kind.install}" if kind.install else "Name it by its path.",
        )
    files = await anyio.to_thread.run_sync(_digest_files, spec)
    version = None if kind.version is None else await _read_version(spec, kind.version)
    return replace(spec, version=version, program_digest=files)


async def _read_version(spec: AgentSpec, command: Sequence[str]) -> str | None:
    """Return the first line of the program's version output; ``None`` if there is none."""
    # Away from the user's home, as in its trials.
    with TemporaryFolder() as folder:
        home = folder.path
        place = Workplace(
            work=home,
            home=home,
            env=build_environment(spec, home, home),
            url="",
            server="",
            files={},
            system=None,
            most_bytes=_MOST_BYTES,
        )
        with anyio.move_on_after(VERSION_S), suppress(AgentError, ExceptionGroup):
            done = await run_program([*resolve_agent_command(spec), *command], place)
            said = next((line.strip() for line in done.out.splitlines() if line.strip()), "")
            # What a program says with an error is no version.
            return said[:_LONGEST] if said and not done.code else None
    # It took too long, or failed: the trials will report its error.
    return None


def _digest_files(spec: AgentSpec) -> str | None:
    """Digest the files of the command, the module of a function, and what each trial copies."""
    files = [*find_command_files(spec)]
    if spec.function is not None:
        module = Path(spec.base, *spec.function.partition(":")[0].split("."))
        places = (module.with_suffix(".py"), module / "__init__.py")
        files += [place for place in places if place.is_file()]
    for folder in filter(None, (spec.files, spec.home)):
        # The order of a folder differs between machines, and the digest must not.
        files += sorted(one for one in Path(spec.base, folder).rglob("*") if one.is_file())
    digests = [hashlib.sha256(file.read_bytes()).digest() for file in files]
    return hashlib.sha256(b"".join(digests)).hexdigest() if digests else None
