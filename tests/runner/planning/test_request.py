from __future__ import annotations

import sys

import pytest

from harness.base.errors import UsageError
from harness.runner.planning.request import RunOptions


@pytest.mark.parametrize("name", ["ray", "ray:auto", "ray:head.example.com:6379"])
def test_ray_is_named_alone_or_with_an_address(name: str) -> None:
    assert RunOptions(engine=name).engine == name


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("rya", "Did you mean 'ray'?"),
        ("ray:", "Write ray, which starts Ray on this machine"),
        ("ray:head", "Write ray, which starts Ray on this machine"),
        ("ray:ray://head:10001", "Write ray, which starts Ray on this machine"),
        ("process:1", "Write ray, which starts Ray on this machine"),
    ],
)
def test_an_unknown_engine_is_refused_with_what_was_meant(name: str, meant: str) -> None:
    with pytest.raises(UsageError) as refused:
        RunOptions(engine=name)
    assert refused.value.message == f"there is no engine {name!r}"
    assert refused.value.meant is not None
    assert refused.value.meant.startswith(meant)


def test_a_thousand_trials_at_the_same_time_are_the_most_of_one_process_and_not_of_a_cluster() -> (
    None
):
    assert RunOptions(concurrency=1_000).concurrency == 1_000
    assert RunOptions(concurrency=16_000, engine="ray:auto").concurrency == 16_000
    with pytest.raises(UsageError, match="one process runs at most 1000 trials") as refused:
        RunOptions(concurrency=1_001)
    assert refused.value.meant == "The engine ray spreads more over the workers of a cluster."


def test_without_ray_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match="the engine ray needs Ray") as refused:
        RunOptions(engine="ray")
    assert refused.value.meant == 'In the checkout: pip install ".[ray]"'
