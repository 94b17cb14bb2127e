"""The tree of errors::

    HarnessError                a message for the user; never shown as a traceback
    ├── UsageError              the request is invalid: exit code 3
    │   └── InvalidInput        …and the mistake is in a file: each Problem says where
    ├── NothingToRun            a valid request that selects no case: exit code 2
    ├── ModelError              a provider gave no usable reply
    ├── AgentError              an agent that others wrote could not be started or read
    ├── ServerError             an MCP server could not be started or was lost
    │   ├── NotAdmitted         …or refused this caller a session: HTTP 401 or 403
    │   ├── RequestRefused      …or answered a request other than a call with an error
    │   ├── RequestRejected     …or did not take a request as harness wrote it: harness's fault
    │   └── OutOfResources      …because harness ran out of files or processes: harness's fault
    └── JudgeError              a judge gave no usable verdict

    InvalidValue                raised while a value is parsed, with the path to it; the reader of
                                the file turns it into an InvalidInput with line and column

`ModelError`, `AgentError`, `ServerError` and `JudgeError` never end a run: the runner turns them
into the `TrialError` of a trial with status ``error`` (or a pass, if a check asks for the refusal).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from harness.types import dataclass

if TYPE_CHECKING:
    from harness.types import ErrorKind, Location, ReplyStop, Usage


class HarnessError(Exception):
    """Any error whose message is shown to the user instead of a traceback."""


class UsageError(HarnessError):
    """A command, suite or configuration that is invalid as written."""

    def __init__(self, message: str, *, meant: str | None = None) -> None:
        """``message`` says what is wrong, ``meant`` what was probably meant or what to do."""
        super().__init__(message if meant is None else f"{message}\n  {meant}")
        self.message = message
        self.meant = meant


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One mistake in a file."""

    at: Location
    """Its location: file, line and column."""
    message: str
    """What is wrong."""
    meant: str | None = None
    """What was probably meant, or what to do."""

    def __str__(self) -> str:
        """``file:line:column: message``, with the advice on a line of its own."""
        return f"{self.at}: {self.message}" + (f"\n    {self.meant}" if self.meant else "")


class InvalidInput(UsageError):
    """One or more mistakes in files that a user wrote."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        """Keep ``problems`` (at least one) in the order in which they stand in the file."""
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class InvalidValue(HarnessError):
    """An invalid value, found while parsing plain data whose file is not known here."""

    def __init__(
        self, message: str, *, path: tuple[str | int, ...] = (), meant: str | None = None
    ) -> None:
        """``path`` leads from the parsed value to the part that is wrong."""
        super().__init__(message)
        self.message = message
        self.path = path
        self.meant = meant


class NothingToRun(HarnessError):
    """The request is valid but selects no case."""


class ModelError(HarnessError):
    """The model's provider gave no usable reply within the allowed attempts."""

    def __init__(
        self,
        message: str,
        *,
        kind: ErrorKind = "model",
        stop: ReplyStop | None = None,
        status: int | None = None,
        attempts: int = 1,
        waited_s: float = 0.0,
        usage: Usage | None = None,
    ) -> None:
        """Keep the message and what the attempts took.

        Args:
            message: What went wrong, for the user.
            kind: Whose doing it is: the model's, its provider's or the configuration's.
            stop: How the model's reply ended, if the failure stands for a reply of the model.
            status: The last HTTP status.
            attempts: Number of requests sent.
            waited_s: Idle time, in seconds.
            usage: What the attempts used; ``None`` means nothing, as for a refused request.
        """
        from harness.types import Usage  # imported here: every command imports this module

        super().__init__(message)
        self.kind: ErrorKind = kind
        self.stop: ReplyStop | None = stop
        self.status = status
        self.attempts = attempts
        self.waited_s = waited_s
        self.usage = usage or Usage()


class AgentError(HarnessError):
    """An agent could not be started, ended early, or said nothing that can be read."""

    def __init__(
        self, message: str, *, detail: str | None = None, usage: Usage | None = None
    ) -> None:
        """``detail`` has its last words on stderr; ``usage`` what the turn used, if it told."""
        from harness.types import UNKNOWN_USAGE  # imported here: see `ModelError`

        super().__init__(message)
        self.message = message
        self.detail = detail or None
        self.usage = UNKNOWN_USAGE if usage is None else usage


class ServerError(HarnessError):
    """The MCP server could not be started, could not list its tools, or went away."""

    fault: ErrorKind = "server"
    """Which party failed: a `TrialError` takes it as its ``kind``."""

    def __init__(self, message: str, *, stderr_tail: str = "", gone: bool = False) -> None:
        """``stderr_tail`` ends the server's stderr; ``gone``: it never answered a request."""
        super().__init__(message)
        self.stderr_tail = stderr_tail
        self.gone = gone

    def copy_for_trial(self, addition: str = "") -> ServerError:
        """Return a copy to raise for another trial, with ``addition`` behind its first line."""
        message = _add_to_message(self, addition)
        return ServerError(message, stderr_tail=self.stderr_tail, gone=self.gone)


class NotAdmitted(ServerError):
    """The MCP server refused this caller a session: by HTTP 401 or 403, or by a JSON-RPC error."""

    def __init__(self, message: str, *, status: int, stderr_tail: str = "") -> None:
        """``status`` is the HTTP status of the refusal, 401 or 403, or the code of the error."""
        super().__init__(message, stderr_tail=stderr_tail)
        self.status = status

    def copy_for_trial(self, addition: str = "") -> NotAdmitted:
        """Return a copy to raise for another trial, with ``addition`` behind its first line."""
        message = _add_to_message(self, addition)
        return NotAdmitted(message, status=self.status, stderr_tail=self.stderr_tail)


class TooBusy(ServerError):
    """The MCP server asked for fewer requests, or for later ones, until it was too late."""

    def copy_for_trial(self, addition: str = "") -> TooBusy:
        """Return a copy to raise for another trial, with ``addition`` behind its first line."""
        return TooBusy(_add_to_message(self, addition), stderr_tail=self.stderr_tail)


class _AnsweredByError(ServerError):
    """The MCP server answered a request other than a call with a JSON-RPC error."""

    def __init__(self, message: str, *, code: int, said: str, data: object) -> None:
        """``code``, ``said`` and ``data`` are the code, message and data of the error."""
        super().__init__(message)
        self.code = code
        self.said = said
        self.data = data


class RequestRefused(_AnsweredByError):
    """The MCP server refused a request other than a call, by a JSON-RPC error."""


class RequestRejected(_AnsweredByError):
    """The MCP server did not take a request, because of how harness wrote it.

    It is no answer to what was asked, and so nobody's policy.
    """

    fault = "harness"


class OutOfResources(ServerError):
    """No MCP server could be reached: harness ran out of open files, processes or memory."""

    fault = "harness"

    def copy_for_trial(self, addition: str = "") -> OutOfResources:
        """Return a copy to raise for another trial, with ``addition`` behind its first line."""
        return OutOfResources(_add_to_message(self, addition), stderr_tail=self.stderr_tail)


def _add_to_message(error: ServerError, addition: str) -> str:
    first, end, rest = str(error).partition("\n")
    return f"{first}{addition}{end}{rest}"


class JudgeError(HarnessError):
    """A judge failed, timed out or returned something that is not a verdict."""


def did_you_mean(name: str, options: Iterable[str]) -> str | None:
    """Return ``Did you mean 'x'?`` for the option most similar to ``name``, if one is similar."""
    from difflib import get_close_matches  # imported here: only a mistake needs it

    nearest = get_close_matches(name, list(options), n=1, cutoff=0.6)
    return f"Did you mean {nearest[0]!r}?" if nearest else None
