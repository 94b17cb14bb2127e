"""However the page ends, its runs end with it, and their logs are whole."""

import signal
import time
from pathlib import Path

import pytest

from harness.runlog import being_written
from tests.fake_provider import FakeProvider
from tests.sessions.servers import alive, all_gone
from tests.web.support import WAIT_S, a_project, dataset, served

MIXED = dataset(["Say seven.", "stall for ever", "Say seven."])


def test_ctrl_c_interrupts_what_runs_and_tells_whoever_listens(
    tmp_path: Path, provider: FakeProvider
) -> None:
    with served(a_project(tmp_path, provider), "--at-once", "1") as page:
        run = page.begin(MIXED)
        waiting = page.begin(MIXED)
        told = page.events(run)
        names = [next(told).name]
        while names[-1] != "test_case_result":
            names.append(next(told).name)
        page.process.send_signal(signal.SIGINT)
        rest = list(told)
        assert (rest[-1].name, rest[-1].data["reason"]) == ("summary", "interrupted")
        assert page.process.wait(WAIT_S) == 130
        assert page.process.stderr is not None
        assert "Traceback" not in page.process.stderr.read()
    log = page.project.log(run)
    assert log.footer is not None
    assert log.footer.reason == "interrupted"
    assert len(log.results) == 3
    assert not (tmp_path / ".harness/runs" / waiting).exists()
    assert all_gone(str(tmp_path))


@pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="looks at what Linux says of processes"
)
def test_a_page_that_is_killed_leaves_whole_logs_and_no_process(
    tmp_path: Path, provider: FakeProvider
) -> None:
    with served(a_project(tmp_path, provider)) as page:
        run = page.begin(MIXED)
        page.until(run, "test_case_result")
        page.process.kill()
        page.process.wait(WAIT_S)
    path = tmp_path / ".harness/runs" / run / "log.jsonl"
    deadline = time.monotonic() + WAIT_S
    while being_written(path):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    footer = page.project.log(run).footer
    assert footer is not None
    assert footer.reason == "interrupted"
    assert alive(run) == []


def test_sigterm_ends_the_page_as_ctrl_c_does(tmp_path: Path, provider: FakeProvider) -> None:
    with served(a_project(tmp_path, provider)) as page:
        page.process.send_signal(signal.SIGTERM)
        assert page.process.wait(WAIT_S) == -signal.SIGTERM


def test_a_port_that_is_taken_is_told_in_words(tmp_path: Path, provider: FakeProvider) -> None:
    project = a_project(tmp_path, provider)
    with served(project) as page:
        ended = project.run("serve", "--port", page.url.rpartition(":")[2])
    assert ended.code == 3
    assert "cannot be listened on" in ended.stderr
    assert "--port" in ended.stderr
