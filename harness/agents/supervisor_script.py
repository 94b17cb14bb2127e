"""Runs an agent, and ends it together with everything that it started.

Run as a plain script (``python -I -S supervisor_script.py FD COMMAND…``), so that it starts in some
ten milliseconds; it imports no module of harness. ``FD`` is the reading end of a pipe that harness
holds open: when it closes, because the trial is over or harness died in any way, the agent is
killed.

A process that an agent puts into a session of its own leaves its process group. On Linux such
orphans become children of this process (a "child subreaper"), so that it finds and kills them too;
elsewhere only the group is killed.

The exit code is the agent's, 128 + N if signal N ended it, and `NOT_STARTED` if the system refused
to start it.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` starts 5 ms later
import os
import select
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

NOT_STARTED = 127
_CHILD_SUBREAPER, _PARENT_DEATH_SIGNAL = 36, 1
_IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_ROUNDS, _PAUSE_S = 400, 0.005  # two seconds


def main() -> int:
    """Run the command until it ends or the pipe closes; return its exit code."""
    lifeline, command = int(sys.argv[1]), sys.argv[2:]
    control = _process_control()
    control(_CHILD_SUBREAPER, 1)
    for ignored in _IGNORED:
        signal.signal(ignored, signal.SIG_IGN)
    told, tell = os.pipe()
    # `set_wakeup_fd` takes nothing else.
    os.set_blocking(tell, False)
    # Without any handler, the signal would not be written to the pipe.
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    agent = os.fork()
    if agent == 0:
        _exec_agent(command, lifeline, control)
    for inherited in (0, 1):
        os.close(inherited)  # the agent's pipes must close with the agent
    status = None
    # A child that ends before this waits has already written to the pipe: nothing is missed.
    while status is None and lifeline not in select.select([lifeline, told], [], [])[0]:
        os.read(told, 512)
        done, ended = os.waitpid(agent, os.WNOHANG)
        status = ended if done else None
    _kill_all(agent)
    if status is None:
        return 128 + int(signal.SIGKILL)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _exec_agent(command: list[str], lifeline: int, control: Callable[[int, int], object]) -> None:
    """Replace this child by the agent; it dies with its parent, and cannot signal it by group."""
    try:
        os.close(lifeline)
        os.setsid()
        control(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
        # An ignored signal stays ignored in the new program, and Python ignores SIGPIPE.
        for changed in (*_IGNORED, signal.SIGPIPE, signal.SIGCHLD):
            signal.signal(changed, signal.SIG_DFL)
        os.execvp(command[0], command)  # noqa: S606 - the agent that the user named
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
    os._exit(NOT_STARTED)


def _kill_all(agent: int) -> None:
    """Kill the agent, its group, and all descendants of this process, until none is left."""
    _send_signal(os.killpg, agent)
    # A process may start another one between the look and the signal.
    for _ in range(_ROUNDS):
        for process in _find_descendants():
            _send_signal(os.kill, process)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        # No child is left, orphans included.
        except ChildProcessError:
            return
        select.select([], [], [], _PAUSE_S)


def _send_signal(how: Callable[[int, int], None], target: int) -> None:
    try:  # noqa: SIM105 - `contextlib` would be most of this script's start
        how(target, signal.SIGKILL)
    except OSError:
        pass


def _find_descendants() -> set[int]:
    """Return all descendants of this process; none where the system does not list them."""
    parents = {}
    try:
        listed = os.listdir("/proc")  # noqa: PTH208 - as above
    except OSError:
        return set()
    for name in listed:
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123 - as above
                    facts = file.read()
            except OSError:
                continue
            # The program's name, in parentheses, may itself contain some, and spaces.
            parents[int(name)] = int(facts.rpartition(b")")[2].split()[1])
    found = {os.getpid()}
    while True:
        more = {one for one, parent in parents.items() if parent in found} - found
        if not more:
            return found - {os.getpid()}
        found |= more


def _process_control() -> Callable[[int, int], object]:
    """Return Linux's ``prctl``, or a function that does nothing."""
    if sys.platform != "linux":
        return lambda *_: None
    import ctypes

    return ctypes.CDLL(None).prctl


if __name__ == "__main__":
    sys.exit(main())
