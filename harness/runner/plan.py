"""What is to be run: every case with every model, as often as asked, each with a stable key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field

from harness.canonical import digest
from harness.types import Case, JsonObject, ModelSpec, ServerSpec, Suite, Trial


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All jobs of a run, in the order in which they are started."""

    jobs: tuple[Job, ...]
    """Suite by suite, case by case, model by model, repeat by repeat."""
    settings: JsonObject = field(default_factory=dict)
    """What was asked for on the command line, for the log's header."""

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
    trials: int = 1,
    settings: JsonObject | None = None,
) -> Plan:
    """Lay out every trial of ``suites``; ``models_of`` and ``server_of`` are asked once a suite."""
    jobs: list[Job] = []
    for suite in suites:
        server, models = server_of(suite), models_of(suite)
        server_key = digest(describe_server(server))
        model_keys = [(model, digest([model.name, describe_model(model)])) for model in models]
        for case in suite.cases:
            case_key = digest([suite.name, suite.system_prompt, describe_case(case)])
            for model, model_key in model_keys:
                for index in range(trials):
                    key = digest([case_key, model_key, server_key, index])
                    trial = Trial(suite=suite.name, case=case, model=model.name, index=index, key=key)
                    jobs.append(Job(trial=trial, suite=suite, model=model, server=server))
    return Plan(jobs=tuple(jobs), settings=settings or {})


def describe_case(case: Case) -> JsonObject:
    """Return what determines a case, without where it stands and what describes it."""
    return {
        "name": case.name,
        "prompt": case.prompt,
        "user_context": case.user_context,
        "limits": asdict(case.limits),
        "checks": [[check.kind, check.params, check.severity] for check in case.checks],
    }


def describe_suite(suite: Suite) -> JsonObject:
    """Return what the log's header says of a suite."""
    return {
        "file": suite.at.file if suite.at else None,
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
