"""What can go wrong, as a tree::

    HarnessError                     something a person must be told; never shown as a traceback
    ├── UsageError                   what was asked for is invalid                    exit code 3
    │   └── InvalidInput             …and it stands in a file: each Problem says where
    ├── NothingToRun                 a valid request that selects no case             exit code 2
    ├── ModelError                   a provider did not give a usable reply           Run.status error
    ├── ServerError                  an MCP server could not be started or was lost   Run.status error
    │   ├── NotAdmitted              …or refused this caller: HTTP 401 or 403         Run.status error, if not asked for
    │   └── OutOfResources           …because harness has no files or processes left  Run.status error, harness's fault
    └── JudgeError                   a judge did not give a usable verdict            Run.status error

    InvalidValue                     raised while a value is parsed, with the path to it; the reader
                                     of the file turns it into an InvalidInput with line and column

`ModelError`, `ServerError` and `JudgeError` never end a run: the runner turns them into the
trial's `TrialError`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from harness.types import ErrorKind, Location, Usage


class HarnessError(Exception):
    """Anything that a user must be told in words instead of a traceback."""


class UsageError(HarnessError):
    """A command, suite or configuration that cannot be carried out as written."""

    def __init__(self, message: str, *, meant: str | None = None) -> None:
        """``message`` says what is wrong, ``meant`` what was probably meant or what to do."""
        super().__init__(message if meant is None else f"{message}\n  {meant}")
        self.message = message
        self.meant = meant


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One mistake in a file."""

    at: Location
    """Where it stands."""
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
    """A value that does not fit, found while parsing plain data whose file is not known here."""

    def __init__(
        self, message: str, *, path: tuple[str | int, ...] = (), meant: str | None = None
    ) -> None:
        """``path`` leads from the value handed in to the part that is wrong."""
        super().__init__(message)
        self.message = message
        self.path = path
        self.meant = meant


class NothingToRun(HarnessError):
    """The request is valid and selects no case."""


class ModelError(HarnessError):
    """The model's provider gave no usable reply, after all attempts that were allowed."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        attempts: int = 1,
        waited_s: float = 0.0,
        usage: Usage | None = None,
    ) -> None:
        """Say what went wrong.

        Args:
            message: The same for people.
            status: The last HTTP status.
            attempts: Requests sent.
            waited_s: Idle time, in seconds.
            usage: What the attempts used; ``None`` is nothing, which is known of a request that was
                refused.
        """
        super().__init__(message)
        self.status = status
        self.attempts = attempts
        self.waited_s = waited_s
        self.usage = usage or Usage()


class ServerError(HarnessError):
    """The MCP server could not be started, could not list its tools, or went away."""

    fault: ErrorKind = "server"
    """Whose fault it is."""

    def __init__(self, message: str, *, stderr_tail: str = "", gone: bool = False) -> None:
        """``stderr_tail`` is what the server last wrote on stderr; ``gone``: it was asked, and never answered."""
        super().__init__(message)
        self.stderr_tail = stderr_tail
        self.gone = gone

    def again(self, addition: str = "") -> ServerError:
        """Return the same error for somebody else who is told of it, with ``addition`` behind its first line."""
        return ServerError(
            _with_addition(self, addition), stderr_tail=self.stderr_tail, gone=self.gone
        )


class NotAdmitted(ServerError):
    """The MCP server refused this caller at the door: HTTP 401 or 403 where a session was to be opened."""

    def __init__(self, message: str, *, status: int, stderr_tail: str = "") -> None:
        """``status`` is what the server answered: 401 or 403."""
        super().__init__(message, stderr_tail=stderr_tail)
        self.status = status

    def again(self, addition: str = "") -> NotAdmitted:
        """Return the same error for somebody else who is told of it, with ``addition`` behind its first line."""
        return NotAdmitted(
            _with_addition(self, addition), status=self.status, stderr_tail=self.stderr_tail
        )


class OutOfResources(ServerError):
    """No MCP server could be reached for want of open files, processes or memory of our own."""

    fault = "harness"

    def again(self, addition: str = "") -> OutOfResources:
        """Return the same error for somebody else who is told of it, with ``addition`` behind its first line."""
        return OutOfResources(_with_addition(self, addition), stderr_tail=self.stderr_tail)


def _with_addition(error: ServerError, addition: str) -> str:
    first, end, rest = str(error).partition("\n")
    return f"{first}{addition}{end}{rest}"


class JudgeError(HarnessError):
    """A judge failed, timed out or returned something that is not a verdict."""


def did_you_mean(name: str, options: Iterable[str]) -> str | None:
    """Return ``Did you mean 'x'?`` for the option nearest to ``name``, if one is near.

    Of a name that was changed, say what it is called now.
    """
    known = list(options)
    if (now := _RENAMED.get(name)) in known:
        return f"{name} is called {now} now."
    nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f"Did you mean {nearest[0]!r}?" if nearest else None


_RENAMED = {"max_turns": "max_replies"}
"""Keys and checks of suites that had another name before 1.0."""
