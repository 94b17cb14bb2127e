"""Where the processes of these tests are forked from."""

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.end_to_end import warm
from tests.end_to_end.warm import Nursery, WarmProcess


def test_a_nursery_ends_and_leaves_nothing_when_it_is_closed() -> None:
    nursery = Nursery()
    assert Path(nursery.address).exists()
    nursery.close()
    assert nursery.process.returncode == 0
    assert not Path(nursery.address).parent.exists()


def test_a_nursery_ends_with_the_process_that_started_it() -> None:
    starting = "from tests.end_to_end.warm import Nursery; nursery = Nursery(); "
    killed = "import os, signal; print(nursery.address); sys.stdout.flush(); "
    code = f"import sys; {starting}{killed}os.kill(os.getpid(), signal.SIGKILL)"
    # The nursery holds the same stdout: it ends only when the nursery has ended as well.
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == -9
    assert not Path(done.stdout.strip()).parent.exists()


def test_a_process_whose_shared_nursery_is_gone_has_one_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = warm._nursery()
    monkeypatch.setenv("TESTS_NURSERY", str(tmp_path / "socket"))
    monkeypatch.setattr(warm, "_own_nursery", lambda: own)
    with closing(warm._nursery.__wrapped__()) as found:
        assert found.python == own.python


def test_several_workers_fork_from_one_nursery_and_each_learns_how_its_own_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    started = []
    with closing(warm._Connection(warm._nursery().address)) as other:
        for connection, option in ((warm._nursery(), "--version"), (other, "--no-such-option")):
            monkeypatch.setattr(warm, "_nursery", lambda found=connection: found)
            started.append(WarmProcess([option], tmp_path, env))
    ended = [process.communicate(timeout=120) for process in started]
    assert [process.returncode for process in started] == [0, 3]
    assert "version" in ended[0][0]
    assert "--no-such-option" in ended[1][1]
