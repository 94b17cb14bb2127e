"""Chooses, before a run, its variants and the models that judge and play users."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from harness.base import InvalidInput, Problem, UsageError, did_you_mean
from harness.judging import (
    DEFAULT_JUDGE,
    JUDGE_PROMPT_VERSION,
    NO_JUDGE,
    JudgeNeed,
    find_judge_needs,
    spec_for_judging,
)
from harness.models import get_traits
from harness.runlog import find_log, read_header
from harness.runner.planning.plan import describe_model
from harness.suites import Config, Point, describe_variant, name_values
from harness.types import (
    Case,
    FaultSet,
    JsonObject,
    Location,
    ModelSpec,
    Suite,
    Variant,
    dataclass,
    name_entrant,
)

NOBODY = "none"
"""``--judge-model none``: no judge, even if one is configured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePanel:
    """The judges of a run."""

    models: tuple[ModelSpec, ...] = ()
    """Every judge, once, with its settings for judging."""
    default_of: dict[str, str] = field(default_factory=dict)
    """Suite → the judge of its checks that name none; suites without such a judge are missing."""
    notes: tuple[str, ...] = ()
    """Sentences for the user."""

    def build_settings(self) -> JsonObject:
        """Return the part of the log's header about judging; empty without judges."""
        if not self.models:
            return {}
        return {
            "judge": dict(self.default_of),
            "judge_prompt_version": JUDGE_PROMPT_VERSION,
            "judge_models": {spec.name: describe_model(spec) for spec in self.models},
        }


def choose_judges(
    suites: Sequence[Suite], named: str | None, config: Config, judged_then: Collection[str] = ()
) -> JudgePanel:
    """Return the judges that the checks of ``suites`` ask for.

    ``named`` (from the command line) comes first, then the suite's own, then `DEFAULT_JUDGE` if it
    is configured in a file: a key in the environment alone never starts a paid judge.

    ``judged_then`` are the suites for which a recording has judgements; they count if there is no
    judge now.

    Raises:
        UsageError: a judge is unknown, cannot be used, or is not an LLM.
    """
    models: dict[str, ModelSpec] = {}
    default_of: dict[str, str] = {}
    notes: list[str] = []
    for suite in suites:
        asked = [need for case in suite.cases for need in find_judge_needs(case.every_check)]
        names = dict.fromkeys(need.model for need in asked if need.model is not None)
        undecided = [need for need in asked if need.model is None]
        default = None
        if undecided and named != NOBODY:
            default = named or suite.judge_model or _get_configured(config, notes)
        if default is not None:
            default_of[suite.name] = default
            names[default] = None
        # What hardly ever needs a judge is not worth a note in every run.
        elif not all(need.is_rare for need in undecided):
            notes.append(_without_judge(suite, undecided, judged_then))
        for name in names:
            models.setdefault(name, _require_judge(name, config))
    if named is not None and named not in (NOBODY, *default_of.values()):
        # Without its key, which nobody needs: a misspelt name is an error all the same.
        _require_judge(named, replace(config, keyless=True))
        notes.append(f"No check needs the judge {named}: it is not asked.")
    notes += [note for spec in models.values() for note in spec.notes]
    return JudgePanel(
        models=tuple(models.values()), default_of=default_of, notes=tuple(dict.fromkeys(notes))
    )


def sole_judge(named: str | None, config: Config) -> ModelSpec:
    """Return the judge ``named``, or else `DEFAULT_JUDGE` if it is configured.

    Raises:
        UsageError: there is none, it cannot be used, or it is not an LLM.
    """
    notes: list[str] = []
    name = named or _get_configured(config, notes)
    if name is None:
        raise UsageError(NO_JUDGE, meant=" ".join(notes) or None)
    return _require_judge(name, config)


def _get_configured(config: Config, notes: list[str]) -> str | None:
    for model in config.list_models():
        if model.spec.name == DEFAULT_JUDGE:
            if model.error is None:
                return DEFAULT_JUDGE
            # No refusal: nobody has named this judge, and the suite may do without.
            words = f"The judge {DEFAULT_JUDGE} is configured but cannot be used"
            notes.append(f"{words}: {model.error.message}.")
    return None


def _require_judge(name: str, config: Config) -> ModelSpec:
    spec = config.resolve_model(name)
    if get_traits(spec.provider).answers != "llm":
        raise UsageError(
            f"{name} cannot judge: it is not an LLM", meant="Name another model with --judge-model."
        )
    return spec_for_judging(spec)


def _without_judge(
    suite: Suite, undecided: Iterable[JudgeNeed], judged_then: Collection[str]
) -> str:
    required = sum(need.required for need in undecided)
    if not required:
        return (
            f"No judge is named for {suite.name}: faithfulness is scored by keywords and grounding,"
            " not judged. Name a judge with --judge-model."
        )
    if suite.name in judged_then:
        return (
            f"No judge is named for {suite.name}: its checks that need one take the recorded "
            "verdict, and end as errors where there is none. Name a judge with --judge-model to "
            "have them judged again."
        )
    are = "check needs" if required == 1 else "checks need"
    return f"{required} {are} a judge in {suite.name}, and will end as errors: {NO_JUDGE}"


@dataclass(frozen=True, slots=True, kw_only=True)
class UserModels:
    """The assignment of models to simulated users."""

    models: tuple[ModelSpec, ...] = ()
    """Every model that plays a user, once."""
    notes: tuple[str, ...] = ()
    """Sentences for the user."""
    _by_name: Mapping[str, ModelSpec] = field(default_factory=dict)
    _of_case: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def get_model(self, suite: Suite, case: Case, model: ModelSpec) -> ModelSpec | None:
        """Return the model that plays the user of ``case`` when ``model`` answers, if one does.

        A replayed run also replays the words of its users.
        """
        name = self._of_case.get((suite.name, case.name))
        if name is not None:
            return self._by_name[name]
        return model if is_replay(model) and needs_player(case) else None

    def build_settings(self) -> JsonObject:
        """Return the part of the log's header about simulated users; empty without such models."""
        described = {spec.name: describe_model(spec) for spec in self.models}
        return {"user_models": described} if described else {}


def choose_players(
    suites: Sequence[Suite],
    models: Mapping[str, Sequence[ModelSpec]],
    named: str | None,
    config: Config,
) -> UserModels:
    """Return the models for the users of ``suites``; ``models`` are those that answer, by suite.

    ``named`` (from the command line) comes first, then the case's own, then the suite's.

    Raises:
        UsageError: no model is named for a user that needs one, or the named one cannot do it.
    """
    by_name: dict[str, ModelSpec] = {}
    of_case: dict[tuple[str, str], str] = {}
    for suite in suites:
        replayed = all(
            get_traits(model.provider).answers in ("replies", "outputs")
            for model in models[suite.name]
        )
        for case in filter(needs_player, suite.cases):
            assert case.user is not None
            # A recording has its users' words already; only who names a player wants others.
            name = named or (None if replayed else case.user.model or suite.user_model)
            if name is not None:
                by_name.setdefault(name, _require_player(name, config))
                of_case[suite.name, case.name] = name
            elif not replayed:
                where = case.at or suite.name
                raise UsageError(
                    f"{where}: test {case.name!r} has a simulated user, but no model is named to "
                    "play them",
                    meant="Name one with --user-model, or by 'user_model:' in the suite.",
                )
    notes = [note for spec in by_name.values() for note in spec.notes]
    if named is not None and named not in by_name:
        _require_player(named, replace(config, keyless=True))
        notes.append(f"No simulated user needs the model {named}: it is not asked.")
    return UserModels(
        models=tuple(by_name.values()),
        notes=tuple(dict.fromkeys(notes)),
        _by_name=by_name,
        _of_case=of_case,
    )


def is_replay(spec: ModelSpec) -> bool:
    """Whether ``spec`` serves the replies of a recorded run."""
    return get_traits(spec.provider).answers == "replies"


def needs_player(case: Case) -> bool:
    """Whether the user of ``case`` needs a model."""
    return case.user is not None and case.user.code is None and not case.user.script


def _require_player(name: str, config: Config) -> ModelSpec:
    spec = config.resolve_model(name)
    if get_traits(spec.provider).answers in ("baseline", "outputs"):
        raise UsageError(
            f"{name} cannot play a user: it is not an LLM",
            meant="Name another model with --user-model.",
        )
    return replace(spec, model_id=str(find_log(spec.model_id))) if is_replay(spec) else spec


def merge_variants(own: Sequence[Variant], held: Sequence[Variant]) -> tuple[Variant, ...]:
    """Return a suite's ``own`` variants and those that a program holds.

    Raises:
        UsageError: two different ones have the same name.
    """
    known: dict[str, Variant] = {}
    for variant in (*own, *held):
        if known.setdefault(variant.name, variant) != variant:
            raise UsageError(f"two different variants are named {variant.name!r}")
    return tuple(known.values())


def refuse_twins(entrants: Iterable[tuple[ModelSpec, Point]]) -> None:
    """Check that each name of a value, and of an entrant, means one thing across all suites.

    Raises:
        UsageError: two suites have different values of one name, or two entrants have one name.
    """
    # Reports count results by these names, over all suites.
    values: dict[tuple[str, str], object] = {}
    known: dict[str, tuple[str, Mapping[str, str]]] = {}
    for model, point in entrants:
        for axis, value in point.items():
            if values.setdefault((axis, value.name), value) != value:
                raise UsageError(
                    f"two suites have different {axis}s named {value.name!r}",
                    meant="Give each a name of its own, or run the suites one by one.",
                )
        own = model.name, name_values(point)
        if known.setdefault(name_entrant(*own), own) != own:
            raise UsageError(
                f"two entrants of this run would have the name {name_entrant(*own)!r}",
                meant="Give the model or the variant another name.",
            )


def refuse_recorded(entrants: Iterable[tuple[ModelSpec, Variant]]) -> None:
    """Check that no model replays outputs that were made for another tool list than its variant's.

    A recorded run may be replayed under the variant of its recording.

    Raises:
        UsageError: the outputs of a model were made for the server's own list, or for another.
    """
    for model, variant in entrants:
        answers = get_traits(model.provider).answers
        if answers not in ("outputs", "replies"):
            continue
        if answers == "replies":
            # Without their names, since the same edits may be called otherwise now.
            wanted = {**describe_variant(variant)["edits"], "name": ""}
            made = read_header(Path(model.model_id)).axes.get("variant", {}).values()
            if any({**one["edits"], "name": ""} == wanted for one in made):
                continue
        raise UsageError(
            f"{model.name} repeats what was said to one tool list, and cannot be asked "
            f"about another, that of the variant {variant.name!r}",
            meant="Name a model that replies, or a run that was made with the variant.",
        )


def refuse_faults_of_recorded(entrants: Iterable[tuple[ModelSpec, FaultSet]]) -> None:
    """Check that nothing is to go wrong with recorded outputs: their calls were made long ago.

    Raises:
        UsageError: a fault is asked for them.
    """
    for model, faults in entrants:
        if get_traits(model.provider).answers == "outputs":
            place = f"{faults.at}: " if faults.at else ""
            raise UsageError(
                f"{place}{model.name} has recorded outputs, whose calls nothing can hit any more, "
                f"so it cannot be asked under the fault {faults.name!r}",
                meant="Leave faults out with '--faults none', or name a model that replies.",
            )


def check_prompts(suites: Iterable[Suite], variants: Iterable[Variant]) -> None:
    """Check that every case that a variant rewords exists and has a prompt.

    ``suites`` have all their cases.

    Raises:
        InvalidInput: the error names every case that no suite has, or whose user is simulated.
    """
    cases: dict[str, list[Case]] = {}
    for suite in suites:
        for case in suite.cases:
            cases.setdefault(case.name, []).append(case)
    rewording = {variant.name: variant for variant in variants if variant.prompts}
    problems = [problem for one in rewording.values() for problem in _find_misworded(one, cases)]
    if problems:
        raise InvalidInput(problems)


def _find_misworded(variant: Variant, cases: Mapping[str, Sequence[Case]]) -> Iterator[Problem]:
    at = variant.at or Location(file=f"variant {variant.name}")
    for name in variant.prompts:
        if name not in cases:
            message = (
                f"variant {variant.name!r} rewords the test {name!r}, which no suite here has."
            )
            yield Problem(at=at, message=message, meant=did_you_mean(name, cases))
        elif any(case.user is not None for case in cases[name]):
            yield Problem(
                at=at,
                message=f"variant {variant.name!r} rewords the test {name!r}, whose user is "
                "simulated and writes its own messages.",
                meant="Remove the test from 'prompts:'.",
            )


def list_decoy_servers(variants: Iterable[Variant]) -> tuple[str, ...]:
    """Return the servers whose tools ``variants`` add, each once."""
    added = (one for variant in variants for one in variant.add)
    return tuple(dict.fromkeys(one.server for one in added if one.server is not None))
