"""Ctrl-C, SIGTERM and SIGHUP: the first lets running trials finish, the second exits at once."""

from __future__ import annotations

import os
import signal
import stat
import sys
from collections.abc import Callable

import anyio
from anyio.abc import TaskStatus

from harness.judging import EXIT_INTERRUPTED
from harness.runner.control import Control


async def watch_signals(
    control: Control,
    *,
    grace_s: float,
    tell: Callable[[str], None],
    abort: Callable[[], None],
    last_words: str = "",
    task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    """Listen until cancelled; needs the main thread.

    The first signal stops new trials and gives running ones ``grace_s`` seconds, then cancels them.
    A second signal calls ``abort``, which must complete the log, writes ``last_words`` and exits.
    """
    wanted = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # set to be ignored by `nohup`
        wanted.append(signal.SIGHUP)

    async def cancel_trials() -> None:
        await anyio.sleep(grace_s)
        control.cancel_trials()

    with anyio.open_signal_receiver(*wanted) as signals:
        task_status.started()
        async with anyio.create_task_group() as group:
            async for number in signals:
                if number == signal.SIGHUP:
                    _release_terminal()
                if control.stopped == "interrupted":
                    abort()
                    _exit_now(last_words)
                control.signal = signal.Signals(number).name
                control.stop("interrupted", f"{control.signal} received")
                # Also over a budget that was reached before: the footer says what ended the run in
                # the end, and the next signal finds it.
                control.stopped = "interrupted"
                tell(
                    f"Interrupted: running trials have {grace_s:g} s to finish; interrupt again to "
                    "stop at once."
                )
                # In a task of its own: a second signal must be heard during the grace.
                group.start_soon(cancel_trials)


def _release_terminal() -> None:
    """Redirect output away from a closed terminal.

    Each write to it would fail, and end the run without its footer.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    # What goes to a file or a pipe is still wanted.
    for output in (1, 2):
        if stat.S_ISCHR(os.fstat(output).st_mode):
            os.dup2(nowhere, output)
    os.close(nowhere)


def _exit_now(last_words: str) -> None:
    """Exit without unwinding; child processes end when our end of their pipe closes."""
    # By `os.write`, because `os._exit` flushes no stream.
    if sys.stderr.isatty():
        os.write(2, b"\x1b[?25h\n")  # a live display may have hidden the cursor
    if last_words:
        os.write(2, f"{last_words}\n".encode())
    os._exit(EXIT_INTERRUPTED)
