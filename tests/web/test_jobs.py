"""A run on the board of the page, cancelled before it runs."""

from __future__ import annotations

from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from harness.web.jobs import RunQueue
from harness.web.settings import Settings
from harness.web.uploads import Upload
from tests.fake_provider import FakeProvider
from tests.often import often
from tests.web.support import KEY, WAIT_S, a_project, dataset


@pytest.mark.anyio
@pytest.mark.parametrize("steps", often([0, 1]))
async def test_a_run_that_is_cancelled_while_it_gets_its_turn_is_never_begun(
    tmp_path: Path, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    """One step of the event loop after it was accepted, its turn has come and it is not told."""
    monkeypatch.chdir(a_project(tmp_path, provider).folder)
    monkeypatch.setenv("KEY", KEY)
    upload = Upload(name="t.csv", suffix="csv", content=dataset(["stall here"]).encode())
    with anyio.fail_after(WAIT_S):
        async with RunQueue(Settings(runs=tmp_path / "runs")) as board:
            job = await board.submit(upload, {"model": ["fake"], "server": ["plain"]})
            for _ in range(steps):
                await anyio.lowlevel.checkpoint()
            assert job.state == "queued"
            await board.cancel(job)
            told = [name async for _, name, _ in job.feed.listen()]
            assert board.under_way == 0
    assert (job.state, told) == ("cancelled", ["run", "error"])
    assert list((tmp_path / "runs").iterdir()) == []
