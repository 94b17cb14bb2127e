"""The fake provider as a process: one JSON line with its URL on stdout, then it serves.

It ends on SIGTERM, on SIGINT, or when its stdin is closed, so it never outlives who started it.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from types import FrameType

from tests.fake_provider.scripts import SCRIPTS, find_script
from tests.fake_provider.server import FakeProvider
from tests.fake_provider.steps import Script

KNOWN = f"{', '.join(SCRIPTS)}, or module:attribute"


def main() -> None:
    """Serve until told to end."""
    options = _parse()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _exit)
    with FakeProvider(
        options.script,
        latency_s=options.latency_ms / 1000,
        require_key=options.key or None,
        port=options.port,
        keep=0,
    ) as provider:
        sys.stdout.write(json.dumps({"url": provider.url}) + "\n")
        sys.stdout.flush()
        sys.stdin.buffer.read()


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fake_provider", description=__doc__)
    parser.add_argument(
        "--port", type=int, default=0, help="where to listen on 127.0.0.1; 0 takes a free port"
    )
    parser.add_argument("--latency-ms", type=float, default=0.0, help="time to every response")
    parser.add_argument(
        "--key", default="test-key", help="the only key accepted; empty asks for none"
    )
    parser.add_argument("--script", default="agent", type=_script, help=f"{KNOWN}; default agent")
    return parser.parse_args()


def _script(name: str) -> Script:
    try:
        return find_script(name)
    except (AttributeError, ImportError, KeyError, ValueError) as error:
        raise argparse.ArgumentTypeError(
            f"there is no script {name!r}; known are {KNOWN}"
        ) from error


def _exit(number: int, frame: FrameType | None) -> None:
    sys.exit(0)


if __name__ == "__main__":
    main()
