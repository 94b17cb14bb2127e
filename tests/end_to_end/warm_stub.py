"""Hands its streams to a forked Python program, stands for it until it ends, and ends as it did.

`warm_python` tells the rest. Started as ``python -I -S warm_stub.py SOCKET PYTHON ARGUMENTS…``, it
imports nothing that is not built in, so that it is there after 15 ms. A signal that it gets is
passed on; if it is killed, the program is killed.
"""

import _signal as signal  # type: ignore[import-not-found]
import _socket as socket
import array
import marshal
import os
import sys

COLD = ("PYTHON", "LC_")
"""How variables begin that concern what was read before the fork."""
KNOWN = {"PYTHONPATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}
"""Variables of Python that a forked program heeds, or need not."""


def main() -> None:
    address, python, *arguments = sys.argv[1:]
    env = dict(os.environ)
    env.pop("LC_CTYPE", None)  # Python itself sets it where there is no other locale
    if any(name.startswith(COLD) and name not in KNOWN for name in env):
        os.execv(python, [python, *arguments])
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect(address)
    streams = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", (0, 1, 2)))]
    connection.sendmsg([marshal.dumps((arguments, os.getcwd(), env))], streams)  # noqa: PTH109 - pathlib is slow to import
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda got, _: connection.send(bytes([got])))
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    status = connection.recv(16)
    code = os.waitstatus_to_exitcode(int(status)) if status else 1
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


main()
