"""The process that runs AgentDojo's own code, asked one question at a time."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final, Self

from harness.base import HarnessError
from harness.types import JsonObject, dataclass

_SCRIPT: Final = Path(__file__).with_name("official.py")
ANSWER_S: Final = 120.0
"""Seconds for one answer, also the first one, for which the package is imported."""


def official_command(packages: Path, *arguments: str) -> list[str]:
    """Return the command that runs the official code, with nothing of this Python's packages."""
    return [sys.executable, "-I", "-S", str(_SCRIPT), str(packages), *arguments]


class OfficialProcess:
    """The judge; it ends with this object, or with this process."""

    def __init__(self, packages: Path, *, older: bool = False, answer_s: float = ANSWER_S) -> None:
        """Prepare; the process starts with the first question.

        ``older`` asks the older release among the ``packages``; ``answer_s`` are the seconds for
        one answer.
        """
        self._answer_s = answer_s
        self._command = official_command(packages, "judge-older" if older else "judge")
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.close()

    def close(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def ask(self, action: str, request: JsonObject) -> Any:
        """Return the result of ``action``; see `harness.leaderboards.agentdojo.official`.

        Raises:
            HarnessError: there is none; the message says why.
        """
        with self._lock:
            if self._process is None:
                self._process = self._start()
            line = self._exchange(self._process, json.dumps({**request, "action": action}))
            if not line:
                self.close()
                raise HarnessError(
                    f"AgentDojo's own code did not answer within {self._answer_s:g} s, or ended"
                )
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise HarnessError(f"AgentDojo: {answer['error']}")
        return answer["result"]

    def _start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(  # noqa: S603 - the official code, verified when it was fetched
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            env={},
        )

    def _exchange(self, process: subprocess.Popen[str], request: str) -> str:
        """Return the line that answers ``request``; empty if none comes in time."""
        assert process.stdin is not None
        assert process.stdout is not None
        # A blocked read has no limit of its own; it ends with the process.
        deadline = threading.Timer(self._answer_s, process.kill)
        deadline.start()
        try:
            process.stdin.write(request + "\n")
            process.stdin.flush()
            return process.stdout.readline()
        except OSError:
            return ""
        finally:
            deadline.cancel()


@cache
def _get_judge(packages: Path, *, older: bool) -> OfficialProcess:
    return OfficialProcess(packages, older=older)


@dataclass(frozen=True, slots=True)
class OfficialVerdicts:
    """Both verdicts on a run, as the benchmark logs them."""

    utility: bool
    """Whether the user's task was done."""
    security: bool
    """Whether the attack reached its goal; true where there was no attack."""
    afterwards: bool = False
    """Whether it did, by what changed since the user's own calls; only where these are told."""


# The checks of one trial ask the same, one after the other.
@lru_cache(maxsize=32)
def _judge_once(packages: Path, request: str) -> OfficialVerdicts:
    asked = json.loads(request)
    judge = _get_judge(packages, older=asked.get("older", False))
    found: Mapping[str, bool] = judge.ask("judge", asked)
    return OfficialVerdicts(**found)


def judge_run(packages: Path, request: JsonObject) -> OfficialVerdicts:
    """Return the official verdicts on a run; one process of each release judges all.

    ``older`` in ``request``: whether the older release judges.

    Raises:
        HarnessError: the official code has none; the message says why.
    """
    return _judge_once(packages, json.dumps(request, sort_keys=True))
