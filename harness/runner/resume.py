"""Take up a run where it ended: only what is missing or could not be judged is run again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from harness.errors import UsageError
from harness.runlog import Header, RunLog
from harness.runner.plan import Plan

_DONE = {"passed", "failed"}
"""Endings that stand; everything else is worth another attempt."""


def remaining(plan: Plan, log: RunLog) -> Plan:
    """Return the part of ``plan`` that ``log`` holds no verdict of."""
    done = {run.key for run in log.runs if run.status in _DONE}
    return replace(plan, jobs=tuple(job for job in plan.jobs if job.trial.key not in done))


def refuse_if_changed(old: Header, new: Header) -> None:
    """Let a run be resumed only with what it began with.

    Raises:
        UsageError: naming every suite, case, model, server and setting that differs.
    """
    changes = list(differences(old, new))
    if changes:
        listed = "\n".join(f"  - {change}" for change in changes)
        raise UsageError(
            f"run {old.run_id} cannot be resumed, for what it asked has changed:\n{listed}",
            meant="Undo the change, or start a new run without --resume.",
        )


def differences(old: Header, new: Header) -> Iterator[str]:
    """Yield each difference between what two runs asked, in words."""
    for name, before, after in _pairs(old.suites, new.suites):
        if before is None or after is None:
            yield f"suite {name} {_came_or_went(before)}"
            continue
        for case, was, now in _pairs(before.get("cases", {}), after.get("cases", {})):
            if was is None or now is None:
                yield f"suite {name}: case {case} {_came_or_went(was)}"
            elif was != now:
                yield f"suite {name}: case {case} has changed"
        if before.get("system_prompt") != after.get("system_prompt"):
            yield f"suite {name}: system_prompt has changed"
    yield from _changed_fields("model", old.models, new.models)
    yield from _changed_fields("server", old.servers, new.servers)
    for setting in ("trials", "shard"):
        was, now = old.settings.get(setting), new.settings.get(setting)
        if was != now:
            yield f"{setting} was {was}, is {now}"


def _changed_fields(what: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for name, before, after in _pairs(old, new):
        if before is None or after is None:
            yield f"{what} {name} {_came_or_went(before)}"
            continue
        for field, was, now in _pairs(before, after):
            if was != now:
                yield f"{what} {name}: {field} was {was!r}, is {now!r}"


def _pairs(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for name in dict.fromkeys([*old, *new]):
        yield name, old.get(name), new.get(name)


def _came_or_went(before: Any) -> str:
    return "is new" if before is None else "is gone"
