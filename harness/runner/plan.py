"""What is to be run: every case with every model, as often as asked, each with a stable key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from harness.canonical import digest
from harness.types import Case, Check, JsonObject, ModelSpec, Run, ServerSpec, Suite, Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A trial together with what it needs to be run."""

    trial: Trial
    """What is asked."""
    suite: Suite
    """Where it comes from."""
    model: ModelSpec
    """Who answers."""
    server: ServerSpec
    """Who executes tools."""
    judge: str | None = None
    """Who judges where a check names nobody; ``None`` if there is no such judge."""
    optional: bool = False
    """Whether it is run only as long as its case is not decided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All jobs of a run, in the order in which they are started."""

    jobs: tuple[Job, ...]
    """Suite by suite, case by case, model by model, repeat by repeat; optional repeats last, round by round."""
    settings: JsonObject = field(default_factory=dict)
    """What was asked for on the command line, for the log's header."""
    judges: tuple[ModelSpec, ...] = ()
    """Every model that judges, once."""
    done: tuple[Run, ...] = ()
    """Results of an earlier part of the same run."""

    @property
    def suites(self) -> tuple[Suite, ...]:
        """Every suite, once."""
        return tuple({job.suite.name: job.suite for job in self.jobs}.values())

    @property
    def models(self) -> tuple[ModelSpec, ...]:
        """Every model, once."""
        return tuple({job.model.name: job.model for job in self.jobs}.values())

    @property
    def servers(self) -> tuple[ServerSpec, ...]:
        """Every server, once."""
        return tuple({job.server.name: job.server for job in self.jobs}.values())


def make_plan(
    suites: Iterable[Suite],
    *,
    models_of: Callable[[Suite], Sequence[ModelSpec]],
    server_of: Callable[[Suite], ServerSpec],
    judge_of: Callable[[Suite], str | None] = lambda _: None,
    judges: Sequence[ModelSpec] = (),
    trials: int | None = None,
    least_trials: int | None = None,
    settings: JsonObject | None = None,
) -> Plan:
    """Lay out every trial of ``suites``; ``models_of`` and ``server_of`` are asked once a suite.

    ``trials`` goes before what a case says itself. Those beyond ``least_trials`` are optional.
    """
    jobs: list[Job] = []
    for suite in suites:
        server, models = server_of(suite), models_of(suite)
        model_keys = [(model, digest([model.name, describe_model(model)])) for model in models]
        shared_key = digest(describe_server(server))
        for case in suite.cases:
            case_key = digest([suite.name, suite.system_prompt, describe_case(case)])
            own_server = case.server or server
            server_key = shared_key if own_server is server else digest(describe_server(own_server))
            repeats = trials or case.trials or 1
            for model, model_key in model_keys:
                for index in range(repeats):
                    key = digest([case_key, model_key, server_key, index])
                    trial = Trial(suite=suite.name, case=case, model=model.name, index=index, key=key, repeats=repeats)
                    jobs.append(Job(trial=trial, suite=suite, model=model, server=own_server, judge=judge_of(suite)))
    laid_out = jobs if least_trials is None else _optional_last(jobs, least_trials)
    return Plan(jobs=tuple(laid_out), settings=settings or {}, judges=tuple(judges))


def _optional_last(jobs: Sequence[Job], least: int) -> list[Job]:
    """Mark repeats from ``least`` on as optional, and put them behind all others."""
    marked = [replace(job, optional=job.trial.index >= least) for job in jobs]
    return sorted(marked, key=lambda job: job.trial.index if job.optional else 0)


def describe_case(case: Case) -> JsonObject:
    """Return what determines a trial of a case, without where the case stands and what describes it.

    Parts that a case does not have are left out, so that those that came later change no older key.
    """
    described = {
        "name": case.name,
        "prompt": case.prompt,
        "user_context": case.user_context,
        "limits": asdict(case.limits),
        "checks": _described(case.checks),
    }
    parts = {
        "turns": [[turn.prompt, _described(turn.checks)] for turn in case.turns],
        "setup": [[call.tool, call.arguments] for call in case.setup],
        "teardown": [[call.tool, call.arguments] for call in case.teardown],
        "steering": case.steering,
        "abort": case.abort,
    }
    return described | {name: part for name, part in parts.items() if part}


def _described(checks: Iterable[Check]) -> list[Any]:
    return [[check.kind, check.params, check.severity] for check in checks]


def describe_suite(suite: Suite) -> JsonObject:
    """Return what the log's header says of a suite."""
    return {
        "file": suite.at.file if suite.at else None,
        **({"reference": suite.reference} if suite.reference else {}),
        "description": suite.description,
        "digest": suite.digest,
        "system_prompt": suite.system_prompt,
        "cases": {case.name: digest(describe_case(case)) for case in suite.cases},
    }


def describe_model(model: ModelSpec) -> JsonObject:
    """Return a model's settings without its secrets."""
    return {
        "provider": model.provider,
        "model_id": model.model_id,
        "base_url": model.base_url,
        "api": model.api,
        "temperature": model.temperature,
        "max_tokens": model.max_tokens,
        "body": dict(model.body),
        "headers": sorted(model.headers),
    }


def describe_server(server: ServerSpec) -> JsonObject:
    """Return how a server is started, without the values of its environment."""
    return {
        "command": server.command,
        "args": list(server.args),
        "env": sorted(server.env),
        "protocol": server.protocol,
        "identity": asdict(server.identity),
        "isolation": server.isolation,
        "read_only": server.read_only,
        "block": list(server.block),
    }
