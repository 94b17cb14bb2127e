"""Facts on agents that are determined when a run starts: presence, version, files."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import anyio
import anyio.to_thread

from harness.agents import (
    KINDS,
    TemporaryFolder,
    Workplace,
    build_environment,
    find_command_files,
    resolve_agent_command,
    run_program,
)
from harness.base import AgentError, UsageError
from harness.runner.planning.plan import RunPlan
from harness.types import AgentSpec, ModelSpec

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
