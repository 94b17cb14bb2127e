"""The plan: every case with every model, value of each axis and repeat, each with a stable key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from harness.base import UsageError, bare_url, digest_json, format_path
from harness.judging import needs_fresh_copy
from harness.runner.planning.option_types import MOST_IN_A_PROCESS
from harness.sessions import TRANSPORTS, describe_identity
from harness.suites import Point, describe_values, name_values, reword_case, suits_point
from harness.types import (
    CLIENT_CAN,
    NOBODY_ASKED,
    AgentSpec,
    Case,
    Check,
    JsonObject,
    ModelSpec,
    ServerSpec,
    Suite,
    Trial,
    TrialResult,
    Usage,
    Variant,
    dataclass,
)

_DIGITS = 12
"""Length of a digest in texts for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A trial together with everything needed to run it."""

    trial: Trial
    """The trial."""
    suite: Suite
    """The suite of its case."""
    model: ModelSpec
    """The model that answers."""
    server: ServerSpec
    """The server that executes tools."""
    judge: str | None = None
    """The judge of checks that name none; ``None`` if there is no such judge."""
    player: ModelSpec | None = None
    """The model that plays its simulated user, if any."""
    optional: bool = False
    """Whether it is run only while its case is undecided."""
    point: Point = field(default_factory=dict)
    """The values of the trial on the axes."""

    @property
    def variant(self) -> Variant | None:
        """What the model sees in place of the server's own list."""
        return self.point.get("variant")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """All jobs of a run, in the order of their start."""

    jobs: tuple[Job, ...]
    """Suite by suite, case by case, entrant by entrant, repeat by repeat; optional repeats last,
    round by round."""
    settings: JsonObject = field(default_factory=dict)
    """The options of the command line, for the log's header."""
    judges: tuple[ModelSpec, ...] = ()
    """Every model that judges, once."""
    decoys_from: tuple[ServerSpec, ...] = ()
    """Servers whose tools variants add as decoys; their tools are listed, never called."""
    done: tuple[TrialResult, ...] = ()
    """Final results of an earlier part of the same run."""
    spent: Usage = field(default_factory=Usage)
    """The usage of that part, as far as known."""

    @property
    def suites(self) -> tuple[Suite, ...]:
        """Every suite, once."""
        return tuple({job.suite.name: job.suite for job in self.jobs}.values())

    @property
    def models(self) -> tuple[ModelSpec, ...]:
        """Every model, once."""
        return tuple({job.model.name: job.model for job in self.jobs}.values())

    @property
    def entrants(self) -> JsonObject:
        """Name of every entrant → its model, and its value on each axis."""
        trials = (job.trial for job in self.jobs)
        return {trial.entrant: {"model": trial.model, **trial.axes} for trial in trials}

    @property
    def user_models(self) -> tuple[ModelSpec, ...]:
        """Every model that plays a user, once."""
        return tuple(
            {job.player.name: job.player for job in self.jobs if job.player is not None}.values()
        )

    @property
    def servers(self) -> tuple[ServerSpec, ...]:
        """Every server, once."""
        used = {job.server.name: job.server for job in self.jobs}
        return tuple(
            {each.name: each for one in used.values() for each in (one, *one.members)}.values()
        )


NO_MODEL = ModelSpec(name=NOBODY_ASKED, provider="no-model", model_id="")
"""The model of cases that only make calls."""


def case_label(suite: str, case: str) -> str:
    """Return the name of a case across suites: ``suite::case``."""
    return f"{suite}::{case}"


def make_plan(  # noqa: PLR0913 - who does what in a run
    suites: Iterable[Suite],
    *,
    models_of: Callable[[Suite], Sequence[ModelSpec]],
    server_of: Callable[[Suite], ServerSpec],
    points_of: Callable[[Suite], Sequence[Point]] = lambda _: ({},),
    judge_of: Callable[[Suite], str | None] = lambda _: None,
    judges: Sequence[ModelSpec] = (),
    player_of: Callable[[Suite, Case, ModelSpec], ModelSpec | None] = lambda *_: None,
    trials: int | None = None,
    least_trials: int | None = None,
    settings: JsonObject | None = None,
) -> RunPlan:
    """Plan every trial of ``suites``; each of the functions ``…_of`` a suite is called once for it.

    ``trials`` replaces each case's own number. Repeats beyond ``least_trials`` are optional.
    """
    jobs: list[Job] = []
    direct = [(NO_MODEL, digest_json(describe_model(NO_MODEL)))]
    for suite in suites:
        server, models = server_of(suite), models_of(suite)
        askable = server.with_abilities()
        # Once for a suite, since it is the same for every case and repeat.
        model_keys = [(model, digest_json([model.name, describe_model(model)])) for model in models]
        shared_key = digest_json(describe_server(server))
        # A key without any value stays what it is when an axis is added.
        points = [(one, [describe_values([one])] if one else []) for one in points_of(suite)]
        judge = judge_of(suite)
        for case in suite.cases:
            # As the suite has it: other words for its prompt are part of a value on an axis.
            case_key = digest_json([suite.name, suite.system_prompt, describe_case(case)])
            asks = case.caller.elicit is not None and case.server is None
            own_server = _require_fresh_state(case, case.server or (askable if asks else server))
            server_key = (
                shared_key if own_server is server else digest_json(describe_server(own_server))
            )
            repeats = trials or case.repeats.trials or 1
            # Models and what they see make no difference to calls that none of them chooses.
            for model, model_key in direct if case.calls else model_keys:
                player = player_of(suite, case, model)
                played_by = [] if player is None else [describe_model(player)]
                for point, described in [({}, [])] if case.calls else points:
                    if not suits_point(case, point):
                        continue
                    asked, axes = reword_case(case, point), name_values(point)
                    for index in range(repeats):
                        parts = [case_key, model_key, server_key, index, *played_by, *described]
                        trial = Trial(
                            suite=suite.name,
                            case=asked,
                            model=model.name,
                            axes=axes,
                            number=index + 1,
                            key=digest_json(parts),
                            repeats=repeats,
                        )
                        jobs.append(
                            Job(
                                trial=trial,
                                suite=suite,
                                model=model,
                                server=own_server,
                                judge=judge,
                                player=player,
                                point=point,
                            )
                        )
    if least_trials is not None:
        marked = [replace(job, optional=job.trial.number > least_trials) for job in jobs]
        # `sorted` is stable, so all others keep the order of the plan.
        jobs = sorted(marked, key=lambda job: job.trial.number if job.optional else 0)
    return RunPlan(jobs=tuple(jobs), settings=settings or {}, judges=tuple(judges))


def _require_fresh_state(case: Case, server: ServerSpec) -> ServerSpec:
    """Return ``server``, with a fresh state per trial if ``case`` compares with a fresh copy."""
    if not needs_fresh_copy(case.every_check):
        return server
    if any(
        one.transport.command is None and one.reset is None for one in server.members or (server,)
    ):
        raise UsageError(
            f"{case.at or case.name}: same_state_as needs a fresh copy of server {server.name!r}, "
            "which runs already",
            meant="In the server's entry, name the call that resets its state, by 'reset:'.",
        )
    if all(one.isolation == "case" for one in (server, *server.members)):
        return server
    return server.with_isolation("case")


def describe_case(case: Case) -> JsonObject:
    """Return everything that determines a trial of a case; not its location or description.

    Absent parts are left out, so that fields added later do not change older keys.
    """
    described = {
        "name": case.name,
        "prompt": case.prompt,
        "user_context": case.caller.user_context,
        "limits": asdict(case.limits),
        "checks": _describe_checks(case.checks),
    }
    caller, rules, interruption = case.caller, case.leaderboard, case.interruption
    parts = {
        "turns": [[turn.prompt, _describe_checks(turn.checks), *turn.marks] for turn in case.turns],
        "calls": [[call.tool, call.arguments] for call in case.calls],
        "setup": [[call.tool, call.arguments] for call in case.setup],
        "teardown": [[call.tool, call.arguments] for call in case.teardown],
        "user": None if case.user is None else asdict(replace(case.user, code=None)),
        "context": list(caller.context),
        "use_prompt": asdict(caller.use_prompt) if caller.use_prompt else None,
        "elicit": caller.elicit_facts,
        "steering": interruption.steering,
        "abort": interruption.abort,
        "credential": None if caller.credential == "valid" else caller.credential,
        "system_prompt": rules.system_prompt,
        "recall": None if rules.recall is None else [rules.recall.tool, rules.recall.arguments],
        "one_reply": rules.one_reply,
        "routing": rules.routing,
        "later": [rules.later_routing.get(place) for place, _ in enumerate(case.turns)]
        if rules.later_routing
        else None,
    }
    return described | {name: part for name, part in parts.items() if part}


def _describe_checks(checks: Iterable[Check]) -> list[Any]:
    return [[check.kind, check.dump_params(), check.severity] for check in checks]


def describe_suite(suite: Suite) -> JsonObject:
    """Return the part of the log's header about a suite."""
    without = [case.name for case in suite.cases if case.calls]
    return {
        "file": suite.at.file if suite.at else None,
        **({"reference": suite.reference} if suite.reference else {}),
        "description": suite.description,
        "digest": suite.digest,
        "system_prompt": suite.system_prompt,
        "cases": {case.name: digest_json(describe_case(case)) for case in suite.cases},
        **({"without_model": without} if without else {}),
        **({"require_identity": True} if suite.require_identity else {}),
        **({"scores": suite.scores} if suite.scores else {}),
    }


def describe_model(model: ModelSpec) -> JsonObject:
    """Return a model's settings without its secrets, or an agent's."""
    described = {"provider": model.provider, "model_id": model.model_id}
    if model.agent is not None:
        return {**described, **_describe_agent(model.model_id, model.agent)}
    names = ("base_url", "api", "temperature", "max_tokens")
    return {
        **described,
        **{name: getattr(model, name) for name in names},
        "body": dict(model.body),
        # Names alone: a value may be a key.
        "headers": sorted(model.headers),
    }


def _describe_agent(model_id: str, agent: AgentSpec) -> JsonObject:
    """Return how an agent is started, with a digest of its settings, which may contain secrets.

    Facts that are determined when a run starts are left out before.
    """
    facts = {
        "command": list(agent.command),
        "args": list(agent.args),
        "function": agent.function,
        "model": agent.model,
        "env": sorted(agent.env),
        "tools": list(agent.tools),
        "settings": _short_digest(agent.settings) if agent.settings else None,
        "files": agent.files,
        "home": agent.home,
        "client_can": None if agent.client_can == CLIENT_CAN else ", ".join(agent.client_can),
    }
    started = {
        "version": agent.version,
        "program": agent.program_digest and agent.program_digest[:_DIGITS],
    }
    described = {name: fact for name, fact in facts.items() if fact or fact == ""}
    return {
        **described,
        **{name: fact for name, fact in started.items() if fact},
        "digest": _short_digest([model_id, described, started]),
    }


def _short_digest(value: Any) -> str:
    return digest_json(value)[:_DIGITS]


def describe_server(server: ServerSpec) -> JsonObject:
    """Return how a server is started or reached, without values of its environment and headers.

    Settings that few servers have are omitted where unset, so that other keys do not change.
    """
    transport, guard, reset = server.transport, server.guard, server.reset
    cwd = "." if transport.cwd is None else format_path(Path(transport.cwd))
    parts = {
        # A folder outside the project is left out, because it differs between machines.
        "cwd": None if cwd == "." or Path(cwd).is_absolute() else cwd,
        # Queries and resets may contain secrets in any form, so their digests are returned.
        "reset": reset and [reset.tool, _short_digest(reset.arguments)],
        "queries": {name: _short_digest(asdict(query)) for name, query in server.queries.items()},
        "refusals": list(server.refusals),
        "allow_writes": guard.allow_writes or [named.tool for named in guard.allowed],
        "recorded": transport.recorded,
        "members": [describe_server(member) for member in server.members],
    }
    described = {
        "command": transport.command,
        "args": list(transport.args),
        "env": sorted(transport.env),
        "protocol": transport.protocol,
        "identity": describe_identity(server.identity),
        "isolation": server.isolation,
        "read_only": guard.read_only,
        "block": list(guard.block),
    }
    if TRANSPORTS.get(transport.kind).over != "pipes":
        url = None if transport.url is None else bare_url(transport.url)
        headers = sorted(transport.headers)  # their values may be secrets
        described |= {"transport": transport.kind, "url": url, "headers": headers}
    return described | {name: part for name, part in parts.items() if part}


Unit: TypeAlias = tuple[Job, ...]
"""Trials that one worker runs, in the order of the plan."""


def get_unit_name(job: Job) -> tuple[str, str]:
    """Return the name of the case of ``job``, or of the test whose identities are compared."""
    return job.suite.name, job.trial.case.caller.group or job.trial.case.name


def work_units(jobs: Iterable[Job]) -> Iterator[Unit]:
    """Yield ``jobs`` in units of what belongs together, each as small as possible.

    A unit is one repeat of a case, with all identities of its test and all values of each axis.
    If all identities share one process of a server (``isolation: none``), all cases of that server
    are one unit.
    """
    units: dict[tuple[str | int, ...], list[Job]] = {}
    for job in jobs:
        # A server that locks its database, say, could not run on a second worker beside the first.
        shared = any(
            server.isolation == "none" and server.transport.command is not None
            for server in job.server.members or (job.server,)
        )
        # By model and not by entrant: the variants of a model stay together.
        own = (*get_unit_name(job), job.model.name, job.trial.number)
        units.setdefault(("server", job.server.name) if shared else own, []).append(job)
    return map(tuple, units.values())


def divide_seats(concurrency: int, units: int, processors: int) -> list[int]:
    """Divide the trials at the same time among as many workers as a cluster has processors.

    ``units`` are what can be handed out: no more workers than that are started.

    Raises:
        UsageError: there is no processor, or there are too few for so many trials.
    """
    if processors < 1:
        raise UsageError("the Ray cluster has no processor for a worker")
    workers = min(processors, concurrency, units)
    # The first `more` workers take one trial more than the others.
    each, more = divmod(concurrency, workers)
    if each + (more > 0) > MOST_IN_A_PROCESS:
        raise UsageError(
            f"{concurrency} trials at the same time are too many for this Ray cluster: a worker "
            f"runs at most {MOST_IN_A_PROCESS}, and there would be {workers}"
        )
    return [each + (place < more) for place in range(workers)]
