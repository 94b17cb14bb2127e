"""Runs a command of the user in the foreground: it has the terminal, and ends with harness.

A Ctrl-C on the terminal reaches the command by itself, as it reaches every program in the
foreground; without a terminal it is passed on. SIGTERM and SIGHUP end the command.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress

import anyio
from anyio.abc import Process

from harness.base import UsageError
from harness.sessions import build_death_prefix

TERM_GRACE_S = 5.0
"""Seconds from SIGTERM to SIGKILL."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


async def run_command(command: Sequence[str], env: Mapping[str, str]) -> int:
    """Run ``command`` to its end and return its exit code; 128 + N if signal N killed it.

    ``env`` is added to our own environment.

    Raises:
        UsageError: it cannot be started.
    """
    # Behind the prefix, a missing program would be the prefix's own failure, with its exit code.
    if shutil.which(command[0]) is None:
        raise UsageError(
            f"there is no program {command[0]!r}",
            meant="Write the program after '--': harness record --server SERVER -- PROGRAM …",
        )
    # Before the command starts: a signal in between would end harness alone.
    with anyio.open_signal_receiver(*_SIGNALS) as signals:
        try:
            process = await anyio.open_process(
                [*build_death_prefix(), *command],
                stdin=None,
                stdout=None,
                stderr=None,
                env={**os.environ, **env},
            )
        except OSError as error:
            raise UsageError(f"{command[0]!r} cannot be started: {error.strerror}") from error
        try:
            async with anyio.create_task_group() as tasks:

                async def forward_signals() -> None:
                    async for number in signals:
                        if number != signal.SIGINT:
                            await _end_process(process)
                        # On a terminal it has had its own Ctrl-C: this would be a second one.
                        elif not sys.stdin.isatty():
                            _send_signal(process, number)

                tasks.start_soon(forward_signals)
                code = await process.wait()
                # Signals may come for ever, so the other task never ends by itself.
                tasks.cancel_scope.cancel()
        finally:
            # Whoever cancels us must not leave the command running.
            with anyio.CancelScope(shield=True):
                await _end_process(process)
    return code if code >= 0 else 128 - code


async def _end_process(process: Process) -> None:
    _send_signal(process, signal.SIGTERM)
    with anyio.move_on_after(TERM_GRACE_S):
        await process.wait()
        return
    _send_signal(process, signal.SIGKILL)
    await process.wait()


def _send_signal(process: Process, number: signal.Signals) -> None:
    if process.returncode is None:
        # It may have ended since it was last looked at.
        with suppress(ProcessLookupError):
            process.send_signal(number)
