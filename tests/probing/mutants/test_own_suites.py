"""The policy suites that come with the project notice nine of ten planted faults."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from harness.base.builtin import builtin_server, builtin_suites
from harness.judging.checks import VOCABULARY
from harness.probing.callers import name_callers
from harness.probing.mutants.probe_mutants import ProbeJudge, ProbeRecording
from harness.probing.mutants.score import MutationScore, mutation_score
from harness.probing.prober import ProbePlan, run_probe
from harness.suites.readers import read_suite

FLOOR = 0.9


def score_of(suite: str, server: str, runs: Path) -> MutationScore:
    cases = read_suite(builtin_suites() / f"{suite}.yml", VOCABULARY).cases
    plan = ProbePlan(
        server=builtin_server(server), callers=name_callers(cases), cases=cases, damaged=False
    )
    log = anyio.run(run_probe, plan, runs).log
    recording = ProbeRecording(log, cases)
    return anyio.run(mutation_score, recording, ProbeJudge(recording))


@pytest.mark.slow
def test_the_matrix_of_all_identities_notices_nine_faults_of_ten(tmp_path: Path) -> None:
    score = score_of("access_matrix", "data_governance", tmp_path)
    assert len(score.planted) > 50
    assert score.share is not None
    assert score.share >= FLOOR
    assert all(survivor.missing is None for survivor in score.survivors)


@pytest.mark.slow
@pytest.mark.timeout(900)  # a minute of processor time, which a busy machine stretches
@pytest.mark.parametrize("suite", ["hr_access", "data_governance"])
def test_suites_that_ask_one_identity_a_test_do_so_too(suite: str, tmp_path: Path) -> None:
    score = score_of(suite, {"hr_access": "hr"}.get(suite, suite), tmp_path)
    assert len(score.planted) > 100
    assert score.share is not None
    assert score.share >= FLOOR
    assert all(survivor.missing is None for survivor in score.survivors)
