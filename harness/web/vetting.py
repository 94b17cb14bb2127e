"""Checks that an uploaded suite cannot run programs on this machine.

A suite on the disk comes from somebody who may start programs anyway. An uploaded one may only name
servers, models and judges that the operator has configured.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.base import InvalidInput, Problem, UsageError, builtin_servers, did_you_mean
from harness.judging import VOCABULARY, every_check, get_kind
from harness.runner import NOBODY, RunPlan
from harness.suites import OFFLINE, Config, make_reader
from harness.types import DEFAULT_TIMEOUT_S, Case, Location, ServerSpec, Suite

FAILED_OF = "failed_of"
"""The field with the name of a run: only the cases that failed in it, or were errors."""
DATASET_SERVER = "finance"
"""The built-in server of the sample dataset: the default if no server is named or configured."""


def model_names(config: Config) -> tuple[str, ...]:
    """Return the models that the page offers: the configured ones and the built-in one."""
    return tuple(dict.fromkeys((OFFLINE, *(model.spec.name for model in config.list_models()))))


def server_names(config: Config) -> tuple[str, ...]:
    """Return the servers that the page offers: the configured and the built-in ones."""
    return tuple(dict.fromkeys((*config.server_names, *builtin_servers())))


def read_uploaded(path: Path, called: str, max_cases: int, config: Config) -> Suite:
    """Return the suite in ``path``; a dataset gets the name ``called``.

    Raises:
        InvalidInput: it has mistakes, or asks for something that only the operator may decide.
    """
    suite = make_reader(max_cases)(path, VOCABULARY)
    if path.suffix == ".csv":
        suite = replace(suite, name=called)
    if problems := list(_find_forbidden(suite, config)):
        raise InvalidInput(problems)
    return suite


def choose_servers(
    suite: Suite, named: tuple[str, ...], config: Config
) -> tuple[tuple[str, ...], str | None]:
    """Return the servers to use (none: the suite's own), and a note on the choice.

    Raises:
        UsageError: neither the suite nor the configuration determines it.
    """
    if named or suite.server is not None or config.find_meant_servers(suite.name):
        return named, None
    if suite.at is not None and suite.at.file.endswith(".csv") and not config.server_names:
        return (
            (DATASET_SERVER,),
            f"No server was named and none is configured: the built-in '{DATASET_SERVER}' answers.",
        )
    known = ", ".join(server_names(config))
    raise UsageError(f"the suite {suite.name!r} names no server", meant=f"Choose one: {known}.")


def choose_models(
    suite: Suite, named: tuple[str, ...], config: Config
) -> tuple[tuple[str, ...], str | None]:
    """Return the models to use (none: the suite's own), and a note on the choice."""
    usual = () if suite.model else (config.default_model or OFFLINE,)
    models = named or usual
    baseline = OFFLINE in (models or (suite.model_name,))
    return (
        models,
        f"The built-in baseline '{OFFLINE}' answers. It is not an LLM." if baseline else None,
    )


def limit_timeouts(suite: Suite, timeout_s: float, config: Config) -> Suite:
    """Return ``suite`` with the timeout of every case limited to ``timeout_s``."""

    def limit_case(case: Case) -> Case:
        own = case.limits.timeout_s or config.timeout_s or DEFAULT_TIMEOUT_S
        return replace(case, limits=replace(case.limits, timeout_s=min(own, timeout_s)))

    return replace(suite, cases=tuple(map(limit_case, suite.cases)))


def require_offered(values: Mapping[str, Any], config: Config) -> None:
    """Refuse names that the page does not offer, such as command lines and ``provider:model``.

    Raises:
        UsageError: with the offered names.
    """
    judge, user = values.get("judge_model"), values.get("user_model")
    offers: list[tuple[str, Iterable[str | None], Iterable[str]]] = [
        ("model", (*values.get("model", ()), user), model_names(config)),
        ("server", values.get("server", ()), server_names(config)),
        ("judge", (judge,), (*model_names(config), NOBODY)),
    ]
    _require_known(offers)


def require_names(variants: Iterable[str]) -> None:
    """Refuse a variant by its file: a page names those that the suites have.

    Raises:
        UsageError: one is, or may be, a file.
    """
    for name in variants:
        if any(Path(part).suffix.lower() in {".yml", ".yaml"} for part in name.split(":")):
            raise UsageError(f"there is no variant named {name!r} here: files are for a terminal")


def require_plan(plan: RunPlan, max_cases: int, config: Config) -> None:
    """Refuse a plan that is too long, or uses a model or server that the page does not offer.

    Raises:
        UsageError: it does.
    """
    if len(plan.jobs) > max_cases:
        message = f"this makes {len(plan.jobs)} trials, and the page runs at most {max_cases}"
        raise UsageError(
            message, meant="Split the file, repeat less, or start 'harness serve' with --max-cases."
        )
    # Names were checked before, but the suite and the configuration add further ones to a plan.
    specs = (*plan.models, *plan.judges, *plan.user_models)
    servers = [spec.name for spec in plan.servers if not spec.members]
    _require_known(
        [
            ("model", [spec.name for spec in specs], model_names(config)),
            ("server", servers, server_names(config)),
        ]
    )


def _require_known(
    used: Iterable[tuple[str, Iterable[str | None], Iterable[str]]],
) -> None:
    for what, names, known in used:
        for name in names:
            if name is not None and name not in known:
                raise UsageError(
                    f"there is no {what} named {name!r} here",
                    meant=_format_alternatives(name, known),
                )


def _find_forbidden(suite: Suite, config: Config) -> Iterator[Problem]:
    place = suite.at or Location(file="upload")
    servers = [suite.server, *(case.server for case in suite.cases)]
    for server in servers:
        if isinstance(server, ServerSpec):
            yield Problem(
                at=server.at or place,
                message=(
                    "an uploaded suite cannot start a server: that would run a program on this "
                    "host."
                ),
                meant=f"Write 'server: NAME'; {_format_alternatives('', server_names(config))} "
                f"Others go into "
                "harness.yml.",
            )
    for check in (check for case in suite.cases for check in every_check(case)):
        if check.code is not None or not get_kind(check).in_suites:
            yield Problem(
                at=check.at or place, message="an uploaded suite cannot bring code of its own."
            )
    known = model_names(config)
    for key, name in (("model", suite.model_name), ("judge_model", suite.judge_model)):
        if name is not None and name not in known:
            yield Problem(
                at=place,
                message=f"{key}: there is no model named {name!r} here.",
                meant=_format_alternatives(name, known),
            )


def _format_alternatives(name: str, known: Iterable[str]) -> str:
    return " ".join(
        filter(None, (did_you_mean(name, known), f"Configured here: {', '.join(known)}."))
    )
