"""Chooses the models of simulated users before a run, so that the user sees their cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.base import UsageError
from harness.models import get_traits
from harness.runner.planning.plan import describe_model
from harness.runner.runs.folders import find_log
from harness.suites import Config
from harness.types import Case, JsonObject, ModelSpec, Suite


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
                by_name.setdefault(name, _require_usable(name, config))
                of_case[suite.name, case.name] = name
            elif not replayed:
                where = case.at or suite.name
                raise UsageError(
                    f"{where}: test {case.name!r} has a simulated user, but no model is named to "
                    "play them",
                    meant="Name one with --user-model, or by 'user_model:' in the suite.",
                )
    return UserModels(
        models=tuple(by_name.values()),
        notes=tuple(dict.fromkeys(note for spec in by_name.values() for note in spec.notes)),
        _by_name=by_name,
        _of_case=of_case,
    )


def is_replay(spec: ModelSpec) -> bool:
    """Whether ``spec`` serves the replies of a recorded run."""
    return get_traits(spec.provider).answers == "replies"


def needs_player(case: Case) -> bool:
    """Whether the user of ``case`` needs a model."""
    return case.user is not None and case.user.code is None and not case.user.script


def _require_usable(name: str, config: Config) -> ModelSpec:
    spec = config.resolve_model(name)
    if get_traits(spec.provider).answers in ("baseline", "outputs"):
        raise UsageError(
            f"{name} cannot play a user: it is not an LLM",
            meant="Name another model with --user-model.",
        )
    return replace(spec, model_id=str(find_log(spec.model_id))) if is_replay(spec) else spec
