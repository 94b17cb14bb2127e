"""From a request to a plan: find suites, select cases, resolve models and servers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path
from typing import Any

from harness.base import KNOWN, NothingToRun, UsageError, builtin_suites
from harness.judging import VOCABULARY
from harness.models import get_traits, list_unsent, load_function, unknown_provider
from harness.runlog import find_log, read_log
from harness.runner.agent_requirements import refuse_clients_habits, refuse_unsupported_cases
from harness.runner.planning.model_choice import (
    check_prompts,
    choose_judges,
    choose_players,
    is_replay,
    list_decoy_servers,
    merge_variants,
    refuse_faults_of_recorded,
    refuse_recorded,
    refuse_twins,
)
from harness.runner.planning.plan import RunPlan, case_label, make_plan
from harness.runner.planning.request import CONCURRENCY, RunRequest
from harness.runner.preflight.named_tools import ON_COMMAND_LINE
from harness.runner.preflight.preflight import check_credentials, check_routes
from harness.runner.recordings.recorded_outputs import (
    RECORDED,
    has_judgements,
    recorded_models,
    restore_suites,
    select_possible,
)
from harness.runner.runs.shard import select_shard
from harness.sessions import with_shared_process
from harness.suites import (
    OFFLINE,
    Config,
    add_attacks,
    add_categories,
    find_suites,
    list_points,
    load_config,
    make_reader,
    remove_duplicates,
    select_cases,
)
from harness.types import (
    DEFAULT_TIMEOUT_S,
    Case,
    GuardRails,
    Isolation,
    ModelSpec,
    NamedTool,
    ServerSpec,
    Suite,
    Variant,
    dataclass,
)


def list_notes(
    request: RunRequest, suites: Sequence[Suite], config: Config, plan: RunPlan
) -> list[str]:
    """Return what the user must know of ``plan``, which was made from ``request``."""
    told = (note for model in plan.models for note in (*model.notes, *list_unsent(model)))
    notes = [*(note for suite in suites for note in suite.notes), *dict.fromkeys(told)]
    named = request.models or request.agents or config.default_model is not None
    # The baseline is no LLM, and its results must not be taken for one's.
    asking = (suite for suite in suites if not all(case.calls for case in suite.cases))
    if not named and any(suite.model is None for suite in asking):
        notes.append(
            f"No model was named: the built-in baseline {OFFLINE!r} answers. It is not an LLM; "
            "name one with --model, for example --model claude-4-sonnet."
        )
    return notes


def explain_empty(request: RunRequest, found: Sequence[Suite]) -> str:
    """Return why ``request`` selects no case of the suites that were found."""
    if request.pattern is not None and found:
        names = ", ".join(case.name for suite in found for case in suite.cases)
        return f"no case matches -k {request.pattern!r}; the cases are: {names}"
    if request.cases is not None and found:
        return f"these cases no longer exist: {', '.join(request.cases)}"
    return "there is no suite to run: write one into evals/, for example evals/first.yml"


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedPlan:
    """A plan, and the notes for the user before it runs."""

    plan: RunPlan
    """What to run."""
    concurrency: int
    """Trials at the same time."""
    notes: tuple[str, ...] = ()
    """Sentences for the user: which model is used by default, how a name was resolved."""


def prepare_plan(
    request: RunRequest,
    cwd: Path,
    environ: Mapping[str, str],
    given: Sequence[Suite] = (),
    options: Mapping[str, Any] | None = None,
    *,
    keyless: bool = False,
    variants: Sequence[Variant] = (),
    functions: Sequence[ModelSpec] = (),
) -> PreparedPlan:
    """Return the plan of ``request``.

    Args:
        request: What a user asks for.
        cwd: Where suites and configuration are found.
        environ: Where keys and references are looked up.
        given: Suites from a program, in addition to those that the request names.
        options: Settings of every tested model, overriding the configured ones.
        variants: Variants from a program, in addition to those of the suites.
        functions: Functions from a program that answer in place of models, named by the request.
        keyless: Whether models without their key are accepted: the plan is only shown.

    Raises:
        UsageError: a suite, model or server is unknown or invalid.
        NothingToRun: no case is left to run.
    """
    read = load_config(cwd, environ, request.mcp_config, request.protocol, request.start_timeout_s)
    config = replace(read, keyless=keyless)
    found = _find_suites(request, cwd, given)
    # Before any suite is left out, so that a placeholder means the same secret in every run.
    KNOWN.add_specs(suites=found, identities=[request.user_context or {}])
    # The log keeps the request, and by it `--resume` has to find a program's suites again.
    request = replace(
        request, suites=(*request.suites, *(suite.reference or suite.name for suite in given))
    )
    suites = _select_suites(found, request, config, variants)
    agents = _list_agents(request, config, cwd, options)
    own = [suite.model for suite in suites if isinstance(suite.model, ModelSpec)]
    written = _index_functions([*functions, *own])
    chosen = {
        suite.name: _list_models(suite, request, config, options, agents, written)
        for suite in suites
    }
    points = {suite.name: list_points(suite, request) for suite in suites}
    entrants = [pair for name, models in chosen.items() for pair in product(models, points[name])]
    varied = [(model, point["variant"]) for model, point in entrants if "variant" in point]
    refuse_unsupported_cases(suites, agents)
    refuse_clients_habits(varied)
    refuse_twins(entrants)
    refuse_recorded(varied)
    refuse_faults_of_recorded((model, at["fault"]) for model, at in entrants if "fault" in at)
    # In all suites that were found: a variant may reword a case that is not selected now.
    check_prompts(found, (variant for _, variant in varied))
    suites, recorded_notes = restore_suites(suites, chosen, found)
    then = [suite.name for suite in suites if has_judgements(suite, chosen[suite.name])]
    bench = choose_judges(suites, request.judge_model, config, then)
    cast = choose_players(suites, chosen, request.user_model, config)
    servers = [request.server] if isinstance(request.server, str) else request.server

    def build_server(suite: Suite) -> ServerSpec:
        server = (
            config.server_options(servers)
            if request.server
            else config.resolve_server(
                suite.server, suite.name, suite.at.file if suite.at else None
            )
        )
        return add_guard_rails(server, suite, request)

    plan = make_plan(
        suites,
        models_of=lambda suite: chosen[suite.name],
        server_of=build_server,
        points_of=lambda suite: points[suite.name],
        judge_of=lambda suite: bench.default_of.get(suite.name),
        judges=bench.models,
        player_of=cast.get_model,
        trials=request.trials,
        least_trials=request.least_trials,
        settings={
            "trials": request.trials,
            "least_trials": request.least_trials,
            "shard": None,
            "request": asdict(request),
            **bench.build_settings(),
            **cast.build_settings(),
        },
    )
    decoys = list_decoy_servers(variant for _, variant in varied)
    plan = replace(plan, decoys_from=tuple(config.resolve_server(name, name) for name in decoys))
    plan, left_out = select_possible(plan)
    for model in (*plan.models, *plan.user_models, *plan.judges):
        if model.agent is None and (wrong := unknown_provider(model)):
            raise wrong
    check_credentials(plan)
    check_routes(plan)
    if request.shard is not None:
        # Last, so that all machines divide the same plan.
        plan = select_shard(plan, request.shard)
    return PreparedPlan(
        plan=plan,
        concurrency=request.concurrency or config.concurrency or CONCURRENCY,
        notes=(
            *list_notes(request, suites, config, plan),
            *recorded_notes,
            *left_out,
            *bench.notes,
            *cast.notes,
        ),
    )


def _find_suites(request: RunRequest, cwd: Path, given: Sequence[Suite]) -> Sequence[Suite]:
    found: Sequence[Suite] = ()
    if request.suites or not given:
        names = _add_attacks(add_categories(request.suites, request.categories), request)
        read = make_reader(request.max_cases, lenient=request.lenient)
        found = find_suites(names, suite_roots(cwd), VOCABULARY, read)
    return remove_duplicates((*given, *found))


def _add_attacks(names: Sequence[str], request: RunRequest) -> Sequence[str]:
    """Return ``names`` with the attacks of ``request``, which address its model.

    Raises:
        UsageError: no leaderboard has attacks, or it is unclear which model they address.
    """
    if request.attack is None:
        return names
    entrants = [*request.models, *request.agents]
    # What a recorded run was told is in the recording.
    live = [name for name in entrants if not name.startswith(f"{RECORDED}:")]
    if len(live) > 1 and "@" not in request.attack:
        raise UsageError(
            "an attack addresses a model by name, and this run has several",
            meant=f"Run one at a time, or name one: --attack {request.attack}@{live[0]}.",
        )
    return add_attacks(names, request.attack, live[0] if live else "")


def _select_suites(
    found: Sequence[Suite], request: RunRequest, config: Config, variants: Sequence[Variant]
) -> list[Suite]:
    """Return the suites with the cases that ``request`` selects, adapted to it.

    Raises:
        NothingToRun: no case is selected.
    """
    suites: list[Suite] = []
    for suite in select_cases(found, request.pattern):
        cases = [
            _adapt_case(case, suite, request, config)
            for case in suite.cases
            if request.cases is None or case_label(suite.name, case.name) in request.cases
        ]
        if cases or request.cases is None:
            merged = merge_variants(suite.variants, variants)
            suites.append(replace(suite, cases=tuple(cases), variants=merged))
    if not suites:
        raise NothingToRun(explain_empty(request, found))
    return suites


def suite_roots(cwd: Path) -> list[Path]:
    """Return the folders that are searched for suites, the project's own first."""
    return [cwd / "evals", builtin_suites()]


def _adapt_case(case: Case, suite: Suite, request: RunRequest, config: Config) -> Case:
    # The usual time is that of one conversation, and a case may begin several.
    usual_s = (config.timeout_s or DEFAULT_TIMEOUT_S) * case.conversation_count
    timeout_s = request.timeout_s or case.limits.timeout_s or usual_s
    # An identity of a matrix keeps its attributes, because they belong to its name.
    own = request.user_context is None or case.caller.identity is not None
    context = case.caller.user_context if own else request.user_context
    server = None
    if case.server is not None and not request.server:
        found = config.resolve_server(case.server, case.name)
        server = add_guard_rails(found, suite, request)
    return replace(
        case,
        caller=replace(case.caller, user_context=context),
        limits=replace(case.limits, timeout_s=timeout_s),
        server=server,
    )


def _index_functions(functions: Sequence[ModelSpec]) -> dict[str, ModelSpec]:
    """Return name → function; raise `UsageError` if two of them have one name."""
    found: dict[str, ModelSpec] = {}
    for spec in functions:
        if found.setdefault(spec.name, spec).function != spec.function:
            raise UsageError(
                f"two of the models are named {spec.name!r}", meant="Give each another name."
            )
    return found


def _list_models(
    suite: Suite,
    request: RunRequest,
    config: Config,
    options: Mapping[str, Any] | None,
    agents: Sequence[ModelSpec],
    functions: Mapping[str, ModelSpec],
) -> list[ModelSpec]:
    if all(case.calls for case in suite.cases):
        return []
    # Whoever names an agent does not ask for a model beside it.
    usual = () if agents else (suite.model_name or config.default_model or OFFLINE,)
    models: list[ModelSpec] = []
    for name in dict.fromkeys(request.models or usual):
        if name in functions:
            models.append(functions[name])
            continue
        model = config.resolve_model(name, options)
        if get_traits(model.provider).answers == "function":
            # Before a live display starts, which would hide the question whether to trust it.
            model = replace(model, function=load_function(model.model_id))
        if is_replay(model):
            # The run in `replay:RUN` is found by the path of its log from now on.
            path = find_log(model.model_id)
            notes = (*model.notes, *read_log(path).complaints)
            model = replace(model, model_id=str(path), notes=notes)
        models += recorded_models(suite, model)
    return [*models, *agents]


def _list_agents(
    request: RunRequest, config: Config, cwd: Path, options: Mapping[str, Any] | None
) -> list[ModelSpec]:
    if request.agents and options and not request.models:
        raise UsageError("settings of a model do not apply to agents")
    agents = [config.resolve_agent(name, cwd) for name in dict.fromkeys(request.agents)]
    # The name of a model is what results are counted by.
    names = [*dict.fromkeys(request.models), *(agent.name for agent in agents)]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(
            f"two models or agents have the name {twice!r}",
            meant="Give each a name of its own, below 'agents:' in harness.yml.",
        )
    return agents


def _choose_isolation(server: ServerSpec, suite: Suite, request: RunRequest) -> Isolation:
    """Return the isolation of ``suite`` if it has one, else that of ``server``.

    Another server than the suite's, named on the command line, is shared by all users only if its
    requests can name them.
    """
    if suite.isolation == "none" and request.server:
        return with_shared_process(server).isolation
    return suite.isolation or server.isolation


def add_guard_rails(server: ServerSpec, suite: Suite, request: RunRequest) -> ServerSpec:
    """Return ``server`` with the guard rails of ``suite`` and ``request`` added to its own."""
    named = (NamedTool(tool=tool, at=ON_COMMAND_LINE) for tool in request.block)
    asked = GuardRails(
        read_only=request.read_only, block=tuple(request.block), blocked=tuple(named)
    )
    return replace(
        server,
        members=tuple(add_guard_rails(member, suite, request) for member in server.members),
        isolation=_choose_isolation(server, suite, request),
        guard=server.guard | suite.guard | asked,
    )
