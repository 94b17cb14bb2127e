"""The fake provider in a process of its own, for the duration of a block."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.fake_provider import Incoming, Step, call, say

ROOT = Path(__file__).parents[1]
END_S = 10.0


@contextmanager
def provider(*, latency_ms: int = 0, script: str = "agent") -> Iterator[str]:
    """Yield the root URL of a provider that answers by ``script`` after ``latency_ms``."""
    command = [
        sys.executable,
        "-m",
        "tests.fake_provider",
        "--latency-ms",
        str(latency_ms),
        "--script",
        script,
    ]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["url"]
        process.stdin.close()  # it ends when its stdin closes
        process.wait(END_S)


def terse(request: Incoming) -> Step:
    """Call the first tool, then answer in a few words, whatever the result."""
    return say("Done.") if request.turn else call("get_record", {"number": 1})


def brief(_request: Incoming) -> Step:
    """Answer at once, without a call."""
    return say("Done.")
