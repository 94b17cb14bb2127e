"""From a request to a plan: find suites, select cases, resolve models and servers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from harness.base import KNOWN, MARK, NothingToRun, UsageError, builtin_suites
from harness.judging import VOCABULARY
from harness.models import unknown_provider, unsent
from harness.runlog import read_log
from harness.runner.agents.abilities import refuse_clients_habits, refuse_what_agents_cannot
from harness.runner.planning.judge_choice import choose_judges
from harness.runner.planning.plan import Plan, case_label, make_plan
from harness.runner.planning.ranges import (
    CONCURRENCY_RANGE,
    LEAST_TRIALS_RANGE,
    MAX_CASES_RANGE,
    TIMEOUT_MS_RANGE,
    TRIALS_RANGE,
)
from harness.runner.planning.user_models import choose_players, is_replay
from harness.runner.planning.variant_choice import (
    check_prompts,
    distinct_by_name,
    refuse_recorded,
    refuse_twins,
    servers_of_decoys,
    told_of,
    variants_of,
)
from harness.runner.preflight.credentials import check_credentials
from harness.runner.preflight.named_tools import ON_COMMAND_LINE
from harness.runner.recordings.recorded_outputs import as_recorded, entrants, judged_then, possible
from harness.runner.runs.folders import find_log
from harness.runner.runs.shard import shard
from harness.suites import (
    MAX_CASES,
    OFFLINE,
    Config,
    distinct,
    find_suites,
    load_config,
    narrowed,
    reader,
    select_cases,
)
from harness.types import (
    DEFAULT_TIMEOUT_S,
    Case,
    GuardRails,
    JsonObject,
    ModelSpec,
    NamedTool,
    Protocol,
    ServerSpec,
    Suite,
    Variant,
)

CONCURRENCY = 4
"""Trials at the same time by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """The user's request; every field narrows or overrides suites and configuration."""

    suites: Sequence[str] = ()
    """Suite names or paths; none means all of the project."""
    categories: str | None = None
    """Parts of a leaderboard, joined by commas; ``None`` means all."""
    models: Sequence[str] = ()
    """Models that answer; none means each suite's own, else the configured default, else
    `harness.suites.config.models.OFFLINE`."""
    agents: Sequence[str] = ()
    """Agents that answer, beside the models, each by its name or as a command; with agents alone,
    no default model answers."""
    pattern: str | None = None
    """Selects cases by name or tag."""
    cases: Sequence[str] | None = None
    """Only these, each as ``suite::case``; ``None`` means all."""
    server: str | Sequence[str] | None = None
    """A command line or a configured name that replaces every suite's server; several are
    joined."""
    mcp_config: str | None = None
    """The configuration of an MCP client, whose servers take precedence over all others."""
    protocol: Protocol | None = None
    """The revision of MCP for every server; ``None`` means what each server's entry says."""
    user_context: JsonObject | None = None
    """Replaces every case's own user context."""
    timeout_s: float | None = None
    """Replaces every case's own timeout."""
    trials: int | None = None
    """Repeats of each case, instead of every case's own."""
    least_trials: int | None = None
    """Repeats after which a case is not run again once it is decided; ``None`` runs all."""
    shard: str | None = None
    """``i/n``: only that part of the plan."""
    read_only: bool = False
    """Send no call to a tool that is not marked read-only."""
    block: Sequence[str] = ()
    """Send no call to these tools."""
    variants: Sequence[str] = ()
    """Variants of the tool list, each by its name in the suite or by a file of variants; ``none``
    is the server's own list, and so is an empty request."""
    judge_model: str | None = None
    """The model that judges, instead of every suite's own; ``none`` for no judge."""
    user_model: str | None = None
    """The model that plays simulated users, instead of every case's and suite's own."""
    max_cases: int = MAX_CASES
    """Most tests that are taken from one CSV dataset."""
    concurrency: int | None = None
    """Trials at the same time; ``None`` means the configured number, else `CONCURRENCY`."""

    def __post_init__(self) -> None:
        """Refuse invalid numbers: raises `UsageError`."""
        TRIALS_RANGE.check(self.trials)
        LEAST_TRIALS_RANGE.check(self.least_trials)
        CONCURRENCY_RANGE.check(self.concurrency)
        MAX_CASES_RANGE.check(self.max_cases)
        TIMEOUT_MS_RANGE.check(None if self.timeout_s is None else self.timeout_s * 1000)
        if (
            self.trials is not None
            and self.least_trials is not None
            and self.least_trials > self.trials
        ):
            raise UsageError(
                f"least_trials is {self.least_trials}, but there are only {self.trials} trials"
            )
        if self.user_context is not None and not isinstance(self.user_context, Mapping):
            raise UsageError("user_context: expected a mapping such as {'role': 'admin'}")

    def filled_from(self, settings: JsonObject) -> RunRequest:
        """Return the request in an earlier run's log settings if this request is empty.

        Raises:
            UsageError: that request is not in the log, since it contains a secret.
        """
        recorded = settings.get("request")
        asks_nothing = replace(self, concurrency=None) == RunRequest()
        if not recorded or not asks_nothing:
            return self
        if MARK[:-1] in json.dumps(recorded):
            raise UsageError(
                "this run was started with a secret on its command line, which its log does not "
                "contain",
                meant="Give the same options again together with --resume.",
            )
        return replace(RunRequest(**recorded), concurrency=self.concurrency)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A plan, and the notes for the user before it runs."""

    plan: Plan
    """What to run."""
    concurrency: int
    """Trials at the same time."""
    notes: tuple[str, ...] = ()
    """Sentences for the user: which model is used by default, how a name was resolved."""


def prepare(
    request: RunRequest,
    cwd: Path,
    environ: Mapping[str, str],
    given: Sequence[Suite] = (),
    options: Mapping[str, Any] | None = None,
    *,
    keyless: bool = False,
    variants: Sequence[Variant] = (),
) -> Prepared:
    """Return the plan of ``request``.

    Args:
        request: What a user asks for.
        cwd: Where suites and configuration are found.
        environ: Where keys and references are looked up.
        given: Suites from a program, in addition to those that the request names.
        options: Settings of every tested model, overriding the configured ones.
        variants: Variants from a program, in addition to those of the suites.
        keyless: Whether models without their key are accepted: the plan is only shown.

    Raises:
        UsageError: a suite, model or server is unknown or invalid.
        NothingToRun: no case is left to run.
    """
    read = load_config(cwd, environ, request.mcp_config, request.protocol)
    config = replace(read, keyless=keyless)
    found: Sequence[Suite] = ()
    if request.suites or not given:
        names = narrowed(request.suites, request.categories)
        found = find_suites(names, suite_roots(cwd), VOCABULARY, reader(request.max_cases))
    found = distinct((*given, *found))
    # Before any suite is left out, so that a placeholder means the same secret in every run.
    KNOWN.know(suites=found)
    request = replace(
        request, suites=(*request.suites, *(suite.reference or suite.name for suite in given))
    )
    picked = _only(select_cases(found, request.pattern), request.cases)
    suites = [
        replace(
            _adapted(suite, request, config), variants=distinct_by_name(suite.variants, variants)
        )
        for suite in picked
    ]
    if not suites:
        raise NothingToRun(_nothing(request, found))
    agents = _agents(request, config, cwd, options)
    chosen = {suite.name: _models(suite, request, config, options, agents) for suite in suites}
    refuse_what_agents_cannot(suites, agents)
    refuse_clients_habits(model for models in chosen.values() for model in models)
    refuse_twins(model for models in chosen.values() for model in models)
    refuse_recorded(model for models in chosen.values() for model in models)
    check_prompts(found, chosen)
    suites, recorded_notes = as_recorded(suites, chosen)
    then = [suite.name for suite in suites if judged_then(suite, chosen[suite.name])]
    bench = choose_judges(suites, request.judge_model, config, then)
    cast = choose_players(suites, chosen, request.user_model, config)
    plan = make_plan(
        suites,
        models_of=lambda suite: chosen[suite.name],
        server_of=lambda suite: _server(suite, request, config),
        judge_of=lambda suite: bench.default_of.get(suite.name),
        judges=bench.models,
        player_of=cast.of,
        trials=request.trials,
        least_trials=request.least_trials,
        settings={
            "trials": request.trials,
            "least_trials": request.least_trials,
            "shard": None,
            "request": asdict(request),
            **bench.settings(),
            **cast.settings(),
        },
    )
    plan = replace(
        plan,
        decoys_from=tuple(config.server(name, name) for name in servers_of_decoys(plan.models)),
    )
    plan, left_out = possible(plan)
    _check_providers(plan)
    check_credentials(plan)
    if request.shard is not None:
        plan = shard(plan, request.shard)
    return Prepared(
        plan=plan,
        concurrency=request.concurrency or config.concurrency or CONCURRENCY,
        notes=(
            *_notes(request, suites, config, plan),
            *recorded_notes,
            *left_out,
            *bench.notes,
            *cast.notes,
        ),
    )


def suite_roots(cwd: Path) -> list[Path]:
    """Return the folders that are searched for suites, the project's own first."""
    return [cwd / "evals", builtin_suites()]


def _only(suites: Sequence[Suite], cases: Sequence[str] | None) -> Sequence[Suite]:
    """Return ``suites`` with only the cases named in ``cases``, without suites left empty."""
    if cases is None:
        return suites
    kept = (
        replace(
            suite,
            cases=tuple(case for case in suite.cases if case_label(suite.name, case.name) in cases),
        )
        for suite in suites
    )
    return [suite for suite in kept if suite.cases]


def _adapted(suite: Suite, request: RunRequest, config: Config) -> Suite:
    return replace(
        suite, cases=tuple(_adapted_case(case, suite, request, config) for case in suite.cases)
    )


def _adapted_case(case: Case, suite: Suite, request: RunRequest, config: Config) -> Case:
    usual_s = (config.timeout_s or DEFAULT_TIMEOUT_S) * case.conversations
    timeout_s = request.timeout_s or case.limits.timeout_s or usual_s
    # An identity of a matrix keeps its attributes, because they belong to its name.
    own = request.user_context is None or case.caller.identity is not None
    context = case.caller.user_context if own else request.user_context
    server = (
        None
        if case.server is None or request.server is not None
        else config.server(case.server, case.name)
    )
    return replace(
        case,
        caller=replace(case.caller, user_context=context),
        limits=replace(case.limits, timeout_s=timeout_s),
        server=None if server is None else guarded(server, suite, request),
    )


def _models(
    suite: Suite,
    request: RunRequest,
    config: Config,
    options: Mapping[str, Any] | None,
    agents: Sequence[ModelSpec],
) -> list[ModelSpec]:
    usual = () if agents else (suite.model or config.default_model or OFFLINE,)
    names = request.models or usual
    found = (config.model(name, options) for name in dict.fromkeys(names))
    models = [one for model in found for one in entrants(suite, _recorded(model))]
    return told_of([*models, *agents], variants_of(suite, request.variants))


def _agents(
    request: RunRequest, config: Config, cwd: Path, options: Mapping[str, Any] | None
) -> list[ModelSpec]:
    if request.agents and options and not request.models:
        raise UsageError("settings of a model do not apply to agents")
    agents = [config.agent(name, cwd) for name in dict.fromkeys(request.agents)]
    names = [*dict.fromkeys(request.models), *(agent.name for agent in agents)]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(
            f"two models or agents have the name {twice!r}",
            meant="Give each a name of its own, below 'agents:' in harness.yml.",
        )
    return agents


def _check_providers(plan: Plan) -> None:
    """Check that every model of ``plan`` has a known provider.

    Raises:
        UsageError: a provider is unknown.
    """
    for model in (*plan.models, *plan.players, *plan.judges):
        if model.agent is None and (wrong := unknown_provider(model)):
            raise wrong


def _recorded(model: ModelSpec) -> ModelSpec:
    """Replace the run in ``replay:RUN`` with the path of its log."""
    if not is_replay(model):
        return model
    path = find_log(model.model_id)
    return replace(model, model_id=str(path), notes=(*model.notes, *read_log(path).complaints))


def _server(suite: Suite, request: RunRequest, config: Config) -> ServerSpec:
    if request.server is not None:
        server = config.server_options(
            [request.server] if isinstance(request.server, str) else request.server
        )
    else:
        server = config.server(suite.server, suite.name)
    return guarded(server, suite, request)


def guarded(server: ServerSpec, suite: Suite, request: RunRequest) -> ServerSpec:
    """Return ``server`` with the guard rails of ``suite`` and ``request`` added to its own."""
    named = (NamedTool(tool=tool, at=ON_COMMAND_LINE) for tool in request.block)
    asked = GuardRails(
        read_only=request.read_only, block=tuple(request.block), blocked=tuple(named)
    )
    return replace(
        server,
        members=tuple(guarded(member, suite, request) for member in server.members),
        isolation=suite.isolation or server.isolation,
        guard=server.guard | suite.guard | asked,
    )


def _notes(request: RunRequest, suites: Sequence[Suite], config: Config, plan: Plan) -> list[str]:
    notes = [note for suite in suites for note in suite.notes]
    notes += dict.fromkeys(note for model in plan.models for note in (*model.notes, *unsent(model)))
    if (
        not request.models
        and not request.agents
        and config.default_model is None
        and any(suite.model is None for suite in suites)
    ):
        notes.append(
            f"No model was named: the built-in baseline {OFFLINE!r} answers. It is not an LLM; "
            "name one with --model, for example --model claude-4-sonnet."
        )
    return notes


def _nothing(request: RunRequest, found: Sequence[Suite]) -> str:
    if request.pattern is not None and found:
        names = ", ".join(case.name for suite in found for case in suite.cases)
        return f"no case matches -k {request.pattern!r}; the cases are: {names}"
    if request.cases is not None and found:
        return f"these cases no longer exist: {', '.join(request.cases)}"
    return "there is no suite to run: write one into evals/, for example evals/first.yml"
