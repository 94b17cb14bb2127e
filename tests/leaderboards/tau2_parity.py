"""``python -m tests.leaderboards.tau2_parity RESULTS…``: do our rewards equal the recorded ones?

RESULTS are result files of tau2-bench, gzipped or not. Every simulation goes the way of ``harness
evals tau2:DOMAIN --model recorded:RESULTS``: its calls are carried out over MCP, by a server
process of the domain, and everything that is compared is read back from the run log.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from harness.base.stats.intervals import compute_mean, pass_hat_k
from harness.leaderboards.tau2.result_files import ResultFile, Simulation, read_results
from harness.runlog import RunLog
from harness.types import CheckResult, TrialResult
from tests.leaderboards.replay import replayed


@dataclass
class Tally:
    """How the simulations of one file compare."""

    simulations: int = 0
    rewards: int = 0
    """Equal rewards."""
    databases: int = 0
    """Equal verdicts on the database."""
    actions: int = 0
    """Gold actions."""
    actions_equal: int = 0
    """Equal verdicts on them."""
    calls: int = 0
    """Tool calls."""
    outputs: int = 0
    """Equal results of them, texts and error flags."""
    seconds: float = 0.0
    """Wall time, processes and all."""
    different: list[str] = field(default_factory=list)
    """Everything that differs, in words."""


def compare(results: ResultFile, log: RunLog) -> Tally:
    """Return how what came out compares with what was recorded."""
    ours = {(run.case.name, run.trial - 1): run for run in log.results}
    tally = Tally()
    for task in results.tasks:
        for index, simulation in enumerate(results.list_trials(task)):
            _add(tally, simulation, ours[f"{results.domain}_{task}", index])
    return tally


def _add(tally: Tally, simulation: Simulation, run: TrialResult) -> None:
    then = simulation.outcome
    assert then is not None, f"{simulation.id} has no reward"
    who = f"task {simulation.task}, trial {simulation.trial}"
    tally.simulations += 1
    tally.rewards += _same(
        tally, f"{who}: reward", then.reward, 1.0 if run.status == "passed" else 0.0
    )
    database = _check(run, "end_state")
    same = None if database is None else database.verdict == "passed"
    tally.databases += _same(
        tally, f"{who}: the database is the gold one", then.same_database, same
    )
    actions = next((check for check in run.checks if check.label.startswith("tau2 ACTION")), None)
    found = () if actions is None else tuple(actions.actual)
    tally.actions += len(then.actions_matched)
    tally.actions_equal += sum(
        one == other for one, other in zip(then.actions_matched, found, strict=True)
    )
    _same(tally, f"{who}: gold actions called", then.actions_matched, found)
    replay = _check(run, "replay")
    assert replay is not None
    tally.calls += run.tool_calls
    tally.outputs += run.tool_calls - len(replay.actual)
    tally.different += [f"{who}: {line}" for line in replay.explanation.splitlines()]


def _check(run: TrialResult, kind: str) -> CheckResult | None:
    return next((check for check in run.checks if check.kind == kind), None)


def _same(tally: Tally, what: str, recorded: object, ours: object) -> bool:
    if recorded != ours:
        tally.different.append(f"{what}: recorded {recorded}, ours {ours}")
    return recorded == ours


def pass_hats(results: ResultFile, log: RunLog) -> list[tuple[int, float, float]]:
    """Return ``(k, recorded pass^k, ours)`` for every k up to the fewest trials of a task."""
    ours = {(run.case.name, run.trial - 1): run.status == "passed" for run in log.results}
    tallies = []
    for task in results.tasks:
        trials = results.list_trials(task)
        if trials:
            won = sum(one.outcome is not None and one.outcome.reward == 1 for one in trials)
            by_us = sum(ours[f"{results.domain}_{task}", index] for index in range(len(trials)))
            tallies.append((len(trials), won, by_us))
    lines = []
    for k in range(1, min(n for n, _, _ in tallies) + 1):
        then = compute_mean([pass_hat_k(n, won, k) or 0.0 for n, won, _ in tallies])
        now = compute_mean([pass_hat_k(n, by_us, k) or 0.0 for n, _, by_us in tallies])
        lines.append((k, then or 0.0, now or 0.0))
    return lines


_HEAD = (
    "| file | simulations | equal reward | equal database verdict | equal action checks | equal "
    "outputs | seconds |\n"
    "|---|--:|--:|--:|--:|--:|--:|"
)


def row(name: str, tally: Tally) -> str:
    """Return one line of the table, in Markdown."""
    return (
        f"| {name} | {tally.simulations} | {tally.rewards} | {tally.databases} "
        f"| {tally.actions_equal} of {tally.actions} | {tally.outputs} of {tally.calls} | "
        f"{tally.seconds:.1f} |"
    )


def main() -> None:
    """Print a table, the pass^k of each file, and every difference."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    notes: list[str] = []
    print(_HEAD)
    for path in (Path(name).absolute() for name in sys.argv[1:]):
        began = time.perf_counter()
        results = read_results(path)
        with tempfile.TemporaryDirectory() as folder:
            log = replayed(f"tau2:{results.domain}", path, Path(folder))
            tally = compare(results, log)
            hats = pass_hats(results, log)
        tally.seconds = time.perf_counter() - began
        print(row(path.name.partition(".json")[0], tally))
        figures = ", ".join(f"pass^{k} {then:.3f} and {now:.3f}" for k, then, now in hats)
        notes += [
            f"{path.name}: recorded and ours: {figures}",
            *(f"  {words}" for words in tally.different),
        ]
    print("\n" + "\n".join(notes))


if __name__ == "__main__":
    main()
