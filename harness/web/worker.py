"""The process of one run: reads the upload, reports whether it can run, and runs it on request.

On stdin it gets one line of JSON, then ``go``. On stdout it writes one line of JSON for each
message::

    {"invalid": [{line, column, message, meant}]}     …and ends
    {"ready": {suites, models, server, planned, …}}   …and waits
    {"start": {suite, case, model, trial}}            a trial begins
    {"said": {key, trial, from, steps}}               steps of a trial under way, from that place
    {"result": key}                                   a trial's line is in the log
    {"note": text}

The end of stdin, and SIGTERM, interrupt the run: its log is closed as for any interrupted run.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from harness.base import (
    KNOWN,
    HarnessError,
    InvalidInput,
    UsageError,
    format_path,
    limit_text,
    shorten_text,
)
from harness.reports import (
    build_report,
    clean_json,
    clean_name,
    fill_store_meanwhile,
    keep_store,
    live_steps,
)
from harness.runner import (
    Observer,
    PreparedPlan,
    RunBudget,
    RunOptions,
    RunRequest,
    fields_of,
    launch_run,
    prepare_plan,
    read_options,
    require_trust,
)
from harness.suites import load_config
from harness.types import Location, Transcript, Trial, TrialResult
from harness.web import vetting
from harness.web.ended_runs import failed_cases
from harness.web.results import name_trial
from harness.web.suite_files import require_files

GARBAGE_THRESHOLD = 200_000
"""New objects after which the garbage collector runs: a run is short and loads large SDKs."""
NICENESS = 2
"""Runs have a lower priority than the page."""
BEGIN_S = 15.0
"""Seconds that an interrupt may wait until the run handles it."""
_LONGEST = 2_000
_MOST_SAID = 1_000_000
"""Characters of one message about a conversation; a line that is longer than 4 MB is not read."""
_SHORT = 1_000


class EventReporter(Observer):
    """Reports events on the pipe to the page: a `harness.runner.observer.Observer`."""

    def __init__(self, pipe: int) -> None:
        """Write to the file descriptor ``pipe``."""
        self._pipe = pipe
        self._waiting: set[str] = set()
        self._steps: dict[str, list[dict[str, Any]]] = {}
        self.begun = threading.Event()

    def send_message(self, **message: Any) -> None:
        """Write one complete message; if the page is gone, only the log matters."""
        # Here, since only this process knows the secrets of its run.
        data = json.dumps(KNOWN.redact_json(message)).encode() + b"\n"
        with suppress(OSError):
            while data:
                # A pipe that is nearly full takes only a part.
                data = data[os.write(self._pipe, data) :]

    def on_planned(self, total: int) -> None:
        """Do nothing: the page already has the plan."""

    def on_started(self, trial: Trial) -> None:
        """Report that a trial begins."""
        self.begun.set()
        self.send_message(start=name_trial(trial, trial.number))

    def on_transcript(self, trial: Trial, transcript: Transcript) -> None:
        """Report the steps of a conversation that are new or have changed."""
        steps = live_steps(transcript)
        before = self._steps.get(trial.key, [])
        same = next(
            (
                place
                for place, pair in enumerate(zip(before, steps, strict=False))
                if pair[0] != pair[1]
            ),
            min(len(before), len(steps)),
        )
        # The last step may still change, for example when its call gets a result.
        self._steps[trial.key] = steps
        told = {"key": trial.key, "trial": name_trial(trial, trial.number), "from": same}
        self.send_message(said={**told, "steps": _fit_steps(steps[same:])})

    def on_waiting(self, result: TrialResult) -> None:
        """Report that a trial is in the log."""
        self._steps.pop(result.key, None)
        self._waiting.add(result.key)
        self.send_message(result=result.key)

    def on_finished(self, result: TrialResult) -> None:
        """Report that a trial is in the log, unless that was said while it waited."""
        self._steps.pop(result.key, None)
        if result.key not in self._waiting:
            self.send_message(result=result.key)

    def on_note(self, text: str) -> None:
        """Report it."""
        self.send_message(note=limit_text(text, _LONGEST))


def _fit_steps(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return steps that fit into one message; the log has their whole texts in the end."""
    if len(json.dumps(steps)) <= _MOST_SAID:
        return steps
    return [
        {
            name: shorten_text(value, _SHORT) if isinstance(value, str) else value
            for name, value in step.items()
            # Lists and objects are left out: they can be long in ways that are not known here.
            if isinstance(value, str | int)
        }
        for step in steps
    ]


def main() -> None:
    """Follow the instructions on stdin."""
    # Before all else: reading an upload is work, too.
    os.nice(NICENESS)
    gc.set_threshold(GARBAGE_THRESHOLD)
    voice = EventReporter(os.dup(1))
    os.dup2(2, 1)  # other output must not be mistaken for a message
    orders = open(0, "rb", buffering=0)  # noqa: SIM115 - unbuffered, so that the end of it can be waited for
    order = json.loads(orders.readline())
    path = Path(order["path"])
    try:
        prepared = read_own_order(order) if "own" in order else read_order(order, path)
        voice.send_message(ready=_encode_plan(prepared))
        if orders.readline().strip() != b"go":
            return
        threading.Thread(target=_watch_page, args=(orders, voice), daemon=True).start()
        budget = RunBudget(**fields_of("budget", read_chosen(order)))
        # No grace: after an interrupt the page waits only `STOP_S` for the end of this process.
        options = RunOptions(concurrency=prepared.concurrency, budget=budget, grace_s=0.0)
        runs, run_id = Path(order["runs"]), order["run_id"]
        log = launch_run(
            *(prepared.plan, options, voice),
            runs=runs,
            run_id=run_id,
            meanwhile=fill_store_meanwhile,
        )
        keep_store(log, build_report(log))
    except HarnessError as error:
        voice.send_message(invalid=encode_problems(error, path, order["name"]))


def read_order(order: Mapping[str, Any], path: Path) -> PreparedPlan:
    """Return the plan of an upload.

    Raises:
        UsageError: it has mistakes, or asks for something that is not allowed.
    """
    config = load_config(Path.cwd(), os.environ)
    values = read_chosen(order)
    vetting.require_offered(values, config)
    suite = vetting.read_uploaded(path, order["called"], order["max_cases"], config)
    servers, of_server = vetting.choose_servers(suite, values.get("server", ()), config)
    models, of_model = vetting.choose_models(suite, values.get("model", ()), config)
    chosen = values | {"model": models, "server": servers}
    failed = _find_failed_cases(order["choice"].get(vetting.FAILED_OF), order)
    request = RunRequest(**fields_of("request", chosen), cases=failed)
    # Before the plan is made: its trials have the limits of their cases.
    given = vetting.limit_timeouts(suite, order["case_timeout_s"], config)
    prepared = prepare_plan(request, Path.cwd(), os.environ, [given])
    # Of the finished plan, since repeats and models multiply the cases of the file.
    vetting.require_plan(prepared.plan, order["max_cases"], config)
    notes = (
        of_server,
        of_model,
        *(note.replace("with --judge-model", "under Judge") for note in prepared.notes),
    )
    return replace(prepared, notes=tuple(note for note in notes if note))


def read_own_order(order: Mapping[str, Any]) -> PreparedPlan:
    """Return the plan of suites of the project, as a terminal in its folder would make it.

    Raises:
        UsageError: they have mistakes, or something is asked for that is not allowed.
    """
    values = read_chosen(order)
    vetting.require_offered(values, load_config(Path.cwd(), os.environ))
    vetting.require_names(order["variants"])
    request = RunRequest(
        **fields_of("request", values),
        suites=require_files(order["own"], Path.cwd()),
        variants=order["variants"],
        cases=_find_failed_cases(order["choice"].get(vetting.FAILED_OF), order),
    )
    prepared = prepare_plan(request, Path.cwd(), os.environ)
    require_trust(prepared.plan)
    return prepared


def read_chosen(order: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the client chose; the page has checked it already."""
    return read_options("page", order["choice"])


def _find_failed_cases(run_id: str | None, order: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the cases of a run that failed, if only they are asked for."""
    if run_id is None:
        return None
    try:
        found = failed_cases(run_id, Path(order["runs"]))
    except OSError as error:
        raise UsageError(f"there is no run {run_id!r} here") from error
    if not found:
        raise UsageError(f"no test failed in the run {run_id}")
    return found


def _encode_plan(prepared: PreparedPlan) -> dict[str, Any]:
    """Return the facts of the plan; every text is safe and bounded."""
    plan = prepared.plan
    return {
        "suites": [
            {
                "name": clean_name(suite.name),
                "description": clean_json(suite.description),
                "cases": [clean_name(case.name) for case in suite.cases],
            }
            for suite in plan.suites
        ],
        "models": [clean_name(name) for name in plan.entrants],
        "servers": [clean_name(server.name) for server in plan.servers],
        "judges": [clean_name(judge.name) for judge in plan.judges],
        "planned": len(plan.jobs),
        "concurrency": prepared.concurrency,
        "notes": [limit_text(note, _LONGEST) for note in prepared.notes],
        "plan_notes": [limit_text(note, _LONGEST) for note in prepared.notes],
    }


def encode_problems(error: HarnessError, path: Path, name: str) -> list[dict[str, Any]]:
    """Return what is wrong, each with its line.

    Paths of ours become the name that the file came with.
    """
    own = format_path(path)

    def clean_text(text: str | None) -> str | None:
        return None if text is None else limit_text(text.replace(own, name), _LONGEST)

    problems: list[tuple[Location | None, str, str | None]]
    if isinstance(error, InvalidInput):
        problems = [(one.at, one.message, one.meant) for one in error.problems[:100]]
    elif isinstance(error, UsageError):
        problems = [(None, error.message, error.meant)]
    else:
        problems = [(None, str(error), None)]
    return [
        {
            "line": at.line if at and at.file == own else None,
            "column": at.column if at and at.file == own else None,
            "message": clean_text(message),
            "meant": clean_text(meant),
        }
        for at, message, meant in problems
    ]


def _watch_page(orders: BinaryIO, voice: EventReporter) -> None:
    """Interrupt the run when the page's process is gone."""
    while orders.read(4096):
        pass
    voice.begun.wait(BEGIN_S)  # before that, nothing would handle the signal and complete the log
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
    gc.freeze()  # skip the clean-up of objects before the process ends
