"""A project whose suite is answered by agents."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.types import Transcript, TrialResult
from tests.end_to_end.harness_process import Finished, Project, plain_server

AGENT = Path(__file__).with_name("agent.py")
ECHO = {"name": "echoes", "prompt": "Say something.", "assertions": {"must_call": ["echo"]}}


@dataclass(frozen=True)
class Agents(Project):
    """A folder with a suite of one server, and agents to answer it."""

    def answered(
        self, manner: str, *options: str, tests: Any = (ECHO,), server: Any = None, **settings: Any
    ) -> Finished:
        """Run the suite ``tests`` with the agent of that manner, as configured by ``settings``."""
        marker = f"marker-{self.folder.name}"
        command = [sys.executable, str(AGENT), manner, "{prompt}", marker]
        self.configure(agents={"ours": {"type": "command", "command": command, **settings}})
        self.suite("t", list(tests), server=server or plain_server())
        return self.run("evals", "t", "--agent", "ours", *options)

    @property
    def marker(self) -> str:
        """What the command lines of the agent and its children carry."""
        return f"marker-{self.folder.name}"

    def only(self) -> tuple[TrialResult, Transcript]:
        """Return the one trial of the last run."""
        ((result, transcript),) = list(self.log())
        assert transcript is not None
        return result, transcript
