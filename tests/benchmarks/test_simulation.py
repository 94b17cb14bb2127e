"""The simulation of a large run, held against what the theory of queues says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.scale.simulation import Setup, Station, simulate

ALONE = Setup(
    workers=10,
    seats=1,
    trials=20_000,
    requests=1,
    answer_s=1.0,
    hand_out_s=0.0,
    take_s=0.0,
    work_s=0.0,
    limit_s=0.0,
)
"""Answers take a second, and nothing else takes any time."""


def test_without_any_work_as_many_trials_go_on_as_there_are_seats() -> None:
    found = simulate(replace(ALONE, seats=3))
    assert found.trials == 20_000
    assert found.rate == pytest.approx(30.0, rel=0.03)
    assert found.driver == found.limiter == found.worker == 0


@pytest.mark.parametrize("part", ["driver", "limiter", "workers"])
def test_a_part_that_is_saturated_serves_one_thing_in_each_service_time(part: str) -> None:
    slow = {
        "driver": {"hand_out_s": 0.1, "take_s": 0.15},
        "limiter": {"limit_s": 0.25},
        "workers": {"work_s": 2.5},  # there are ten
    }[part]
    found = simulate(replace(ALONE, seats=20, trials=5_000, **slow))  # type: ignore[arg-type]
    assert found.busiest == part
    assert found.rate == pytest.approx(4.0, rel=0.03)


def test_with_little_to_do_each_part_is_busy_for_its_share_of_the_time() -> None:
    found = simulate(replace(ALONE, hand_out_s=0.001, take_s=0.002, limit_s=0.004, requests=2))
    assert found.driver == pytest.approx(found.rate * 0.003, rel=0.01)
    assert found.limiter == pytest.approx(found.rate * 2 * 0.004, rel=0.01)


def test_what_comes_at_random_waits_as_long_as_in_the_queue_m_d_1() -> None:
    # Many seats that each wait long make arrivals at random: M/D/1 waits for rho s / 2 (1 - rho).
    service, busy = 0.01, 0.7
    around_s = 2_000 * service / busy
    found = simulate(
        replace(
            ALONE, workers=2_000, trials=60_000, answer_s=around_s, limit_s=service, warm_up=0.5
        )
    )
    assert found.limiter == pytest.approx(busy, rel=0.03)
    assert found.limiter_wait_s == pytest.approx(busy * service / (2 * (1 - busy)), rel=0.15)


def test_the_time_of_the_run_obeys_the_law_of_little() -> None:
    found = simulate(replace(ALONE, limit_s=0.05, fixed=True))
    around_s = 1.0 + 0.05 + found.limiter_wait_s
    assert found.rate * around_s == pytest.approx(10, rel=0.01)  # all seats are always taken


def test_equal_seeds_give_equal_runs() -> None:
    setup = replace(ALONE, trials=1_000, limit_s=0.01)
    assert simulate(setup, seed=3) == simulate(setup, seed=3)
    assert simulate(setup, seed=3) != simulate(setup, seed=4)


def test_a_station_serves_in_the_order_in_which_things_come() -> None:
    station = Station()
    assert [station.serve(at, 2.0) for at in (0.0, 1.0, 7.0)] == [2.0, 4.0, 9.0]
    assert (station.busy_s, station.waited_s, station.served) == (6.0, 1.0, 3)
