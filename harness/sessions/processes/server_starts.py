"""What a run learns from starting one server, whoever it is started for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from harness.base import NotAdmitted, OutOfResources, ServerError, TooBusy
from harness.sessions.identity.delivery import delivery_of
from harness.types import ServerSpec

MAX_STARTS = 3
"""Failed starts in a row after which a server is not tried again, if it has started before."""


@dataclass(slots=True)
class ServerStarts:
    """The starts of one server in a run."""

    has_started: bool = False
    """Whether it has started at least once."""
    failure: ServerError | None = None
    """Why it did not start, as long as it never has; the same for every user."""
    needs_initialize: bool = False
    """Whether it ends at the first message that is no ``initialize``."""

    def apply_handshake(self, server: ServerSpec) -> ServerSpec:
        """Return ``server`` with the handshake that it is known to need."""
        return use_older_handshake(server) if self.needs_initialize else server

    def refuse_hopeless(self, failures: int, failure: ServerError | None) -> None:
        """Refuse to start the server again for a user, for whom it failed ``failures`` times.

        Raises:
            ServerError: it is not started again; ``failure``, or that of another user.
        """
        # A refused caller is tried again each time: that is quick, and some cases test it. So is
        # one that came too early: later it may be in time.
        passing = NotAdmitted | OutOfResources | TooBusy
        is_over = failures >= (MAX_STARTS if self.has_started else 1)
        why = failure if is_over else self.failure
        if why is not None and not isinstance(why, passing):
            raise why.copy_for_trial(" (not tried again)")

    def record_success(self) -> None:
        """Record a start."""
        self.has_started, self.failure = True, None

    def record_failure(self, server: ServerSpec, error: ServerError) -> None:
        """Record a failed start; what depends on the user concerns no other."""
        delivery = delivery_of(server.identity)
        if error.gone and not self.has_started and not delivery.has_process_per_user:
            self.failure = error


def use_older_handshake(server: ServerSpec) -> ServerSpec:
    """Return ``server``, to be sent ``initialize`` and nothing before it."""
    return replace(server, transport=replace(server.transport, protocol="legacy"))
