"""One user's open connection to one server, owned by one task from start to end.

`Connection.run` is that task; all other methods may be used from any task. A failure to open is
raised by `Connection.wait_ready`; a loss is in `Connection.loss_reason` and in the calls under way.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from functools import partial
from typing import TYPE_CHECKING

import anyio

from harness.base import NotAdmitted, OutOfResources, ServerError, UsageError, canonical_json
from harness.sessions.connection_end import (
    Place,
    build_failure,
    describe_end,
    describe_lateness,
    iterate_leaf_errors,
    quote_labelled,
)
from harness.sessions.identity.bearer import Bearer, Bearers
from harness.sessions.identity.delivery import (
    Identity,
    RequestAdditions,
    build_process_env,
    build_request_meta,
    request_additions,
)
from harness.sessions.list_changes import ChangeListener
from harness.sessions.processes.guardian import Guardian
from harness.sessions.processes.http_servers import Host, Hosts
from harness.sessions.processes.process import (
    ServerProcess,
    ServerStarts,
    find_shortage,
    launch_server,
    use_older_handshake,
)
from harness.sessions.processes.stderr import extract_informative_lines
from harness.sessions.session import ForeignClient, Introduction
from harness.sessions.shared_connection import REFUSED, SharedSession, list_user_tools
from harness.sessions.transports import TRANSPORTS
from harness.sessions.transports.handshake import (
    HANDSHAKE,
    find_hint,
    list_first_tools,
    shake_hands,
)
from harness.sessions.transports.http_errors import HttpFault
from harness.sessions.transports.throttle import Throttle
from harness.types import JsonObject, ServerSpec, SideContent, ToolCall, ToolList, ToolRequest

if TYPE_CHECKING:
    from harness.sessions.calls import CallSender
    from harness.sessions.client import Link, McpClient
    from harness.sessions.transports.frames import Noise

LOST_S = 2.0  # that a call on a broken connection waits for the cause; `OBITUARY_S` are enough


class Connection:
    """A `harness.sessions.Session` over a process of its own, or over HTTP."""

    def __init__(
        self,
        spec: ServerSpec,
        who: Identity,
        guardian: Guardian,
        hosts: Hosts,
        bearers: Bearers,
        turns: Throttle,
        starts: ServerStarts,
    ) -> None:
        """Prepare a connection to ``spec`` for ``who``; `run` opens it."""
        self._turns = turns
        self._starts = starts
        self._spec = spec
        self._who = who
        self._meta = build_request_meta(spec.identity, who.user_context)
        self._env = build_process_env(spec.identity, who.user_context)
        self._guardian = guardian
        self._hosts = hosts
        self._bearers = bearers
        self.bearer: Bearer | None = None
        self.additions = RequestAdditions()
        self._place: Place | None = None
        self._caller: CallSender | None = None
        self._noise: Noise
        self._listener = ChangeListener()
        self._beside: dict[str, tuple[SideContent, ...]] = {}
        self._failure: ServerError | None = None
        self._lost: str | None = None
        self._last_words = ""
        self._closing = False
        self.unsettled = False
        """Whether a call was abandoned that the server may still be working on."""
        self.touched = False
        """Whether the server got any request but listing tools: its state may have changed."""
        self.has_met_caller = False
        """Whether the server could know for whom the connection is when its start ended."""
        self.is_late = False
        """Whether it did not open because the limit of a start had passed."""
        self._opened, self._over = anyio.Event(), anyio.Event()
        self._concluded, self._ended = anyio.Event(), anyio.Event()

    @property
    def tools(self) -> ToolList:
        """The tools that this user sees; known once the connection is `wait_ready`."""
        return self._sender.listed.tools

    async def listen_for_changes(self) -> None:
        """Listen for changed lists (see `Session.listen_for_changes`)."""
        await self._listener.start(self._sender.client)

    async def refresh_tools(self) -> ToolList:
        """Return the tools as they are now (see `harness.sessions.Session.refresh_tools`)."""
        return await self._sender.listed.refresh()

    @property
    def _sender(self) -> CallSender:
        assert self._caller is not None
        return self._caller

    @property
    def loss_reason(self) -> str | None:
        """Why the server is gone; ``None`` while it is alive."""
        return self._lost

    def stderr_tail(self) -> str:
        """Return the last lines that the server wrote on stderr."""
        text = self._last_words if self._place is None else self._place.stderr_text()
        return self._bearers.redact_text(text)

    async def wait_ready(self) -> None:
        """Wait until calls are possible, within ``start_timeout_s``.

        Raises:
            ServerError: the connection could not be opened.
        """
        await self._opened.wait()
        if self._failure is not None:
            raise self._failure.copy_for_trial()

    async def call(self, request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
        """Send one call and return its record (see `harness.sessions.Session.call`)."""
        self.touched = True
        made = await self._sender.call(request, reply=reply, epoch=epoch)
        self.unsettled = self.unsettled or made.outcome == "timeout"
        return made

    async def send_request(self, method: str, params: JsonObject) -> JsonObject:
        """Send any other request (see `harness.sessions.Session.send_request`)."""
        self.touched = True
        return await self._sender.send_request(method, params)

    @property
    def introduction(self) -> Introduction:
        """The server's description of itself; known once the connection is `wait_ready`."""
        return self._sender.introduction

    def forward_messages(self, foreign_client: ForeignClient) -> AbstractAsyncContextManager[None]:
        """Forward messages to a client (see `harness.sessions.Session.forward_messages`)."""
        return self._sender.forward_messages(foreign_client)

    async def watch(self) -> tuple[SideContent, ...]:
        """Watch this user's session (see `harness.sessions.Session.watch`)."""
        return await self.watch_user(self._sender, self._who.user_context)

    async def watch_user(
        self, caller: CallSender, user_context: JsonObject | None
    ) -> tuple[SideContent, ...]:
        """Watch one user's session over this connection; the data beside tools are read once."""
        user = canonical_json(user_context)
        self._beside[user] = await caller.watch(self._beside.get(user))
        return self._beside[user]

    async def open_shared_session(self, user_context: JsonObject | None) -> SharedSession:
        """Return a session of another user over this connection, which must be `wait_ready`.

        Raises:
            NotAdmitted: the server refused this user.
            ServerError: its tools could not be listed.
        """
        meta = build_request_meta(self._spec.identity, user_context)
        client = self._sender.client.clone_with_meta(meta)
        known = self._spec, self._turns, self._explain_loss, self.stderr_tail
        tools = await list_user_tools(client, *known)
        return SharedSession(self, user_context, self._build_sender(client, tools))

    def close(self) -> None:
        """Begin to end the server."""
        self._closing = True
        self._over.set()

    async def wait_closed(self) -> None:
        """Wait until no process is left; `harness.sessions.processes.process` bounds that."""
        await self._ended.wait()

    async def end(self) -> None:
        """End the server, and wait until no process is left."""
        self.close()
        await self.wait_closed()

    async def run(self) -> None:
        """Open the connection, keep it until `close` or a loss, end the server; never raises."""
        try:
            deadline = anyio.current_time() + self._spec.start_timeout_s
            with anyio.CancelScope(deadline=deadline) as starting:
                while await self._run_attempt(starting) and not self._closing:
                    # A new event, since the end of the first process has set the old one.
                    self._spec, self._over = use_older_handshake(self._spec), anyio.Event()
            # Between the steps, which tell it themselves.
            if starting.cancelled_caught:
                self.is_late = True
                self._conclude(f"did not start within {self._spec.start_timeout_s:g} s")
        except ServerError as error:
            self._failure = error
        except UsageError as error:
            lack = find_shortage(error, f"reaching server {self._spec.name!r}")
            words = f"server {self._spec.name!r} cannot be reached: {error}"
            self._failure = lack or ServerError(words)
        except Exception as error:  # noqa: BLE001 - whatever escapes the SDK is this server's fault and must not touch others
            self._failure = find_shortage(error, f"talking to server {self._spec.name!r}")
            self._conclude(f"crashed the client: {'; '.join(iterate_leaf_errors(error))}")
        finally:
            # Says nothing new after a loss or a failure: the first reason stays.
            self._conclude("was ended by harness")
            self._ended.set()

    async def _run_attempt(self, starting: anyio.CancelScope) -> bool:
        """Open the connection and keep it; return whether the server has to be started again."""
        async with self._enter_server() as place:
            self._place = place
            try:
                before = time.perf_counter()
                # The server starts while the SDK is loaded; this half second is not its own.
                connected = self._prepare_connect(place)
                starting.deadline += time.perf_counter() - before
                if isinstance(place, Host):
                    if not await self._wait_listening(place, starting):
                        return False
                    self.has_met_caller = True
                    await self._get_token(place, starting)
                async with connected() as link:
                    self.has_met_caller = True
                    if again := await self._open_session(link, place, starting):
                        return again
                    if self._caller is not None and self._failure is None:
                        await self._listener.listen_until(self._over, link.client)
                        if not self._closing:
                            self._conclude(await describe_end(link, place))
                return False
            finally:
                self._last_words = place.stderr_text()
                self._place = None

    def _enter_server(self) -> AbstractAsyncContextManager[Place]:
        if TRANSPORTS.get(self._spec.transport.kind).over == "pipes":
            return launch_server(self._spec, self._env, self._guardian)
        return self._hosts.lend(self._spec, self._env, self._over.set)

    def _prepare_connect(self, place: Place) -> Callable[[], AbstractAsyncContextManager[Link]]:
        """Load the transport and return how to connect with it, once ``place`` is ready."""
        connect = TRANSPORTS.get(self._spec.transport.kind).load()
        if isinstance(place, ServerProcess):
            return lambda: connect(place, self._meta, self._over.set)
        from harness.sessions.transports.http_client import ServerEndpoint

        login = self._bearers.get_login(self._spec, self._who, place.url)
        described = self._spec.transport.headers, self._get_identity_headers, self.additions, login
        endpoint = ServerEndpoint(place.url, *described)
        return lambda: connect(endpoint, self._meta, self._over.set)

    async def _get_identity_headers(self) -> RequestAdditions:
        """Return headers and query of the caller's identity for every HTTP request."""
        if self.bearer is None:
            return await request_additions(self._spec.identity, self._who.user_context)
        return await self.bearer.build_additions()

    async def _wait_listening(self, host: Host, starting: anyio.CancelScope) -> bool:
        """Wait until the server listens; return whether it does."""
        with self._report_timeout("listen on its port", starting):
            end = await host.wait_ready()
        if end is not None:
            self._conclude(f"{end} while starting")
        return end is None

    async def _get_token(self, host: Host, starting: anyio.CancelScope) -> None:
        """Get the first token in advance: its failure is not the server's fault."""
        self.bearer = self._bearers.get_bearer(self._spec, self._who, host.url)
        if self.bearer is None:
            return
        try:
            with self._report_timeout("get a token for it", starting):
                await self.bearer.get_headers()
        except ServerError as error:
            tail = self._bearers.redact_text(error.stderr_tail)
            why = f"no token for server {self._spec.name!r}: {error}"
            raise ServerError(why, stderr_tail=tail) from error

    async def _open_session(self, link: Link, place: Place, starting: anyio.CancelScope) -> bool:
        """Open the connection; return whether the server ended before the older handshake."""
        step = HANDSHAKE
        try:
            with self._report_timeout(step, starting, link):
                shaking = partial(shake_hands, link.client, self._spec, place)
                await self._turns.run_start(shaking, starting)
            step = "list its tools"
            with self._report_timeout(step, starting, link):
                listing = partial(list_first_tools, link.client, self._spec)
                tools = await self._turns.run_start(listing, starting)
        except ConnectionError:
            why = f"{await describe_end(link, place)} while starting"
            # A server that read nothing has not ended because of what it was sent.
            may_know = isinstance(place, ServerProcess) and not place.stdin.was_ignored
            if may_know and find_hint(step, self._spec, link.client):
                return True
            self._conclude(why, link.source.noise.quote_since(), gone=True)
        except HttpFault as fault:
            # An HTTP status proves that the server lives; after silence, wait for its exit.
            unanswered = fault.status is None
            end = await place.describe_exit() if isinstance(place, Host) and unanswered else None
            why = f"did not {step}: it {fault}" if end is None else f"{end} while starting"
            if unanswered and (end or not fault.gone):
                why += find_hint(step, self._spec, link.client)
            refused = fault.status if fault.status in REFUSED else None
            self._conclude(why, refused=refused, gone=end is not None, busy=fault.busy)
        except OutOfResources:
            raise
        except ServerError as error:
            refused = error.status if isinstance(error, NotAdmitted) else None
            self._conclude(str(error), link.source.noise.quote_since(), refused=refused)
        else:
            self._noise = link.source.noise
            self._caller = self._build_sender(link.client, tools)
            # The scope that bounded the start lives as long as the connection.
            starting.deadline = math.inf
            is_legacy = self._spec.transport.protocol == "legacy"
            self._starts.needs_initialize = is_legacy or link.client.needs_initialize
            self._opened.set()
        return False

    def _build_sender(self, client: McpClient, tools: ToolList) -> CallSender:
        from harness.sessions.calls import CallSender

        shown, noise = self._bearers.shown, self._noise
        return CallSender(client, tools, self._spec, self._explain_loss, shown, self._turns, noise)

    @contextmanager
    def _report_timeout(
        self, step: str, starting: anyio.CancelScope, link: Link | None = None
    ) -> Iterator[None]:
        """Name the step that was unfinished if the start times out within the block."""
        try:
            yield
        except anyio.get_cancelled_exc_class():
            # Otherwise somebody else cancelled it, such as the end of the run: that is no timeout.
            if anyio.current_time() >= starting.deadline:
                self.is_late = True
                noise = link.source.noise.quote_since() if link else ""
                self._conclude(describe_lateness(step, self._spec, link), noise, gone=bool(link))
            raise

    async def _explain_loss(self, fault: HttpFault | None = None) -> str:
        """Return why a call has no answer: ``fault``, or why the whole connection broke."""
        if fault is not None and not fault.gone:
            place = self._place
            if not isinstance(place, Host) or await place.describe_exit() is None:
                return f"server {self._spec.name!r} {fault}"
        # A call may see the loss before the connection's own task knows its cause.
        with anyio.move_on_after(LOST_S):
            await self._concluded.wait()
        return self._lost or f"server {self._spec.name!r} no longer answers"

    def _conclude(
        self,
        why: str,
        noise: str = "",
        *,
        refused: int | None = None,
        gone: bool = False,
        busy: bool = False,
    ) -> None:
        """Record the end as a loss, and as a failure for those who wait; the first reason stays."""
        if self._concluded.is_set():
            return
        cause, *others = extract_informative_lines(tail := self.stderr_tail()) or [""]
        self._lost = f"server {self._spec.name!r} {why}{quote_labelled('its last words', cause)}"
        self._lost += noise
        if not self._opened.is_set() and self._failure is None:
            end = self._lost, tail, others
            self._failure = build_failure(*end, refused=refused, gone=gone, busy=busy)
        self._concluded.set()
        self._opened.set()
