"""``recorded:FILE``: a model's outputs from a leaderboard run elsewhere, judged like new ones.

No model is asked and no server is started. The leaderboard turns each recorded output into the
transcript that it would have produced; checks, log and reports are the usual ones. A file with
several models means all of them; ``recorded:FILE#MODEL`` selects one.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import cast

from harness.base import NothingToRun, UsageError, did_you_mean, format_count
from harness.runner.planning.plan import Job, RunPlan
from harness.suites import LEADERBOARDS, ExecutableRecording, ModelRecording, ReplayableLeaderboard
from harness.types import Case, ModelSpec, Suite

RECORDED = "recorded"
"""The provider of such models."""

UNRECORDED = "not recorded"
"""`TrialResult.skip_reason` of a trial that is not in the recording."""

_SHOWN = 10


def recorded_models(suite: Suite, model: ModelSpec) -> list[ModelSpec]:
    """Return ``model``, or one model for each in the recording that it names.

    Raises:
        UsageError: the suite has no recordings, or the file has none of the suite or the model.
    """
    if model.provider != RECORDED:
        return [model]
    if suite.leaderboard is None or not isinstance(
        LEADERBOARDS.get(suite.leaderboard), ReplayableLeaderboard
    ):
        raise UsageError(
            f"{model.name}: the suite {suite.name!r} is not a leaderboard, so it has no recorded "
            f"outputs",
            meant="To replay a run of your own, name it: --model replay:RUN.",
        )
    path, entrant = _split_reference(model.model_id)
    found = _get_recordings(suite.leaderboard, path)
    if entrant is not None and entrant not in found:
        near = did_you_mean(entrant, found) or f"It holds: {', '.join(found)}."
        raise UsageError(f"{path} has no recording of {entrant!r}", meant=near)
    names = [entrant] if entrant is not None else list(found)
    # With the leaderboard, because whoever reads the recording knows no suite.
    ids = {name: f"{suite.leaderboard}:{path}#{name}" for name in names}
    _CHOSEN.update((ids[name], found[name]) for name in names)
    if len(names) == 1:
        return [replace(model, model_id=ids[names[0]])]
    shown = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
    note = f"{path} holds {len(names)} models, and each is scored: {shown}. Pick one with #NAME."
    return [
        replace(model, name=f"{model.name}#{name}", model_id=ids[name], notes=(note,))
        for name in names
    ]


def restore_suites(
    suites: Sequence[Suite], models: Mapping[str, Sequence[ModelSpec]], found: Sequence[Suite]
) -> tuple[list[Suite], tuple[str, ...]]:
    """Return ``suites`` with only the cases that some model can run, and notes on the others.

    ``models`` are the models of each suite, by its name. A suite with a live model keeps all cases.
    ``found`` are the same suites with the cases that were not selected, too.

    Raises:
        NothingToRun: none of them was recorded.
    """
    kept: list[Suite] = []
    notes: list[str] = []
    for suite in suites:
        recordings = _list_recordings(models[suite.name])
        executable = [one for one in map(find_executable, recordings) if one is not None]
        notes += [note for recording in recordings for note in recording.notes]
        # A live model among them can run what was not recorded.
        if not recordings or len(recordings) < len(models[suite.name]):
            kept.append(suite)
            continue
        cases: list[Case] = []
        for case in suite.cases:
            trials = max(len(one.get_transcripts(case.name)) for one in recordings)
            if trials:
                restored = _restore_case(case, executable)
                # As often as in the recording, unless it sets its own number.
                if restored.repeats.trials is None and trials > 1:
                    repeats = replace(restored.repeats, trials=trials)
                    restored = replace(restored, repeats=repeats)
                cases.append(restored)
        if len(cases) < len(suite.cases):
            notes.append(
                f"{len(cases)} of the {len(suite.cases)} cases of {suite.name} were recorded: the "
                "others are left out."
            )
        if cases:
            kept.append(replace(suite, cases=tuple(cases)))
    foreign = _find_foreign(found, models)
    if not kept:
        raise NothingToRun(f"none of these cases was recorded. {foreign}".removesuffix(". "))
    return kept, tuple(dict.fromkeys(filter(None, (*notes, foreign))))


def _find_foreign(suites: Sequence[Suite], models: Mapping[str, Sequence[ModelSpec]]) -> str:
    """Return a note on recorded cases that none of ``suites`` has; empty if there is none."""
    known = {case.name for suite in suites for case in suite.cases}
    every = [one for specs in models.values() for one in _list_recordings(specs)]
    names = dict.fromkeys(name for one in every for name in one.list_cases() if name not in known)
    if not names:
        return ""
    shown = ", ".join([*names][:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
    return f"Recorded, but in no suite of this run: {format_count(len(names), 'case')}: {shown}."


def select_possible(plan: RunPlan) -> tuple[RunPlan, tuple[str, ...]]:
    """Return ``plan`` without jobs that cannot be done, and notes on them.

    Such jobs have a case that the recording lacks, or one that needs a recording.

    Raises:
        NothingToRun: no job is left.
    """
    kept: list[Job] = []
    reasons: Counter[str] = Counter()
    for job in plan.jobs:
        case = job.trial.case
        if job.model.provider == RECORDED:
            if get_recording(job.model).get_transcripts(case.name):
                kept.append(job)
        elif case.leaderboard.unavailable is not None:
            reasons[case.leaderboard.unavailable] += 1
        else:
            kept.append(job)
    notes = tuple(f"{amount} cases are left out: {reason}." for reason, amount in reasons.items())
    if not kept:
        raise NothingToRun("; ".join(reasons) or "none of these cases was recorded")
    return (plan if len(kept) == len(plan.jobs) else replace(plan, jobs=tuple(kept))), notes


_EXECUTABLE: dict[type, bool] = {}
"""Class of recordings → whether `ExecutableRecording` describes it."""


def find_executable(recording: ModelRecording) -> ExecutableRecording | None:
    """Return ``recording`` if its calls are executed again."""
    kind = type(recording)
    if kind not in _EXECUTABLE:
        # Once for a class: Python looks every method of the protocol up.
        _EXECUTABLE[kind] = isinstance(recording, ExecutableRecording)
    return cast("ExecutableRecording", recording) if _EXECUTABLE[kind] else None


def has_judgements(suite: Suite, models: Sequence[ModelSpec]) -> bool:
    """Return whether a recording among ``models`` has its own judgements on cases of ``suite``."""
    return any(
        recording.get_verdicts(case.name, index)
        for recording in filter(None, map(find_executable, _list_recordings(models)))
        for case in suite.cases
        for index in range(len(recording.get_transcripts(case.name)))
    )


def _restore_case(case: Case, recordings: Sequence[ExecutableRecording]) -> Case:
    """Return ``case`` as it was when recorded, if a recording knows.

    Raises:
        UsageError: the recordings have different criteria: they are of different revisions of the
          leaderboard.
    """
    found = [
        recording.restore_case(case)
        for recording in recordings
        if recording.get_transcripts(case.name)
    ]
    if not found:
        return case
    if any(one.checks != found[0].checks for one in found):
        raise UsageError(
            f"the recordings have different criteria for {case.name}: they are of different "
            "revisions of the leaderboard",
            meant="Replay them one at a time: name one file, or one model with #NAME.",
        )
    return next((one for one in found if one.server is not None), found[0])


def _split_reference(reference: str) -> tuple[str, str | None]:
    """Return the absolute path and the model in ``reference``; the path may contain a ``#``."""
    # A file that exists under the whole text is meant, even with a `#` in its name.
    path, mark, entrant = reference, "", ""
    if not os.path.exists(reference) and "#" in reference:  # noqa: PTH110 - Path.exists may raise
        path, mark, entrant = reference.partition("#")
    if not os.path.exists(path):  # noqa: PTH110 - as above
        raise UsageError(
            f"there is no recording {path!r}", meant="Name a file or folder: --model recorded:FILE."
        )
    return str(Path(path).absolute()), entrant if mark else None


_CHOSEN: dict[str, ModelRecording] = {}
"""Identifier of a model → its recording, as the latest plan of this process found it."""


def get_recording(model: ModelSpec) -> ModelRecording:
    """Return the recording of a model of `recorded_models`."""
    # Each trial asks for it: the file is not looked for again while its plan is carried out.
    if (chosen := _CHOSEN.get(model.model_id)) is not None:
        return chosen
    leaderboard, path, entrant = split_recording(model)
    return _get_recordings(leaderboard, path)[entrant]


def split_recording(model: ModelSpec) -> tuple[str, str, str]:
    """Return the leaderboard, the path and the recorded model of a model of `recorded_models`."""
    leaderboard, _, rest = model.model_id.partition(":")
    path, entrant = _split_reference(rest)
    assert entrant is not None
    return leaderboard, path, entrant


def _list_recordings(models: Iterable[ModelSpec]) -> list[ModelRecording]:
    return [get_recording(model) for model in models if model.provider == RECORDED]


@cache
def _read_recordings(leaderboard: str, path: str, _changed: int) -> Mapping[str, ModelRecording]:
    """Read a recording once: for the plan, and for its trials."""
    found = LEADERBOARDS.get(leaderboard)
    assert isinstance(found, ReplayableLeaderboard)
    return found.load_recordings(Path(path))


def _get_recordings(leaderboard: str, path: str) -> Mapping[str, ModelRecording]:
    # The time is only a key: a file that has changed is read anew.
    return _read_recordings(leaderboard, path, Path(path).stat().st_mtime_ns)
