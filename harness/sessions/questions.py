"""What a server asks its user while a call is under way: answered, bounded and recorded.

| the server | what happens |
|---|---|
| asks during a call | it is answered by the rules of the case; what none fits is declined |
| shows a form that is none, or an address that cannot be opened | it is cancelled |
| asks when no call is under way, as after its result | it is refused |
| asks more than `MOST_QUESTIONS` times in one call | further questions are refused |

Every question is recorded, also one that is refused. Servers with a handshake do not say which call
a question belongs to, so such calls are sent one after the other (`ForeignClients.answer_during`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import field, fields, replace
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import anyio

from harness.base import (
    HarnessError,
    RequestRefused,
    fill_form,
    find_form_flaw,
    find_misfits,
    mask_content,
)
from harness.sessions.client_capabilities import build_capabilities
from harness.sessions.session import (
    ELICITATION,
    AskableRequest,
    ForeignClient,
    Session,
    SessionWrapper,
)
from harness.types import (
    ELICITING,
    ElicitAction,
    Elicitation,
    JsonObject,
    ToolCall,
    ToolRequest,
    dataclass,
)

MOST_QUESTIONS = 10
"""Most questions of one call that are answered."""
MOST_RECORDED = 100
"""Most questions of one trial that are recorded."""
_INVALID_REQUEST = -32600
_AGAIN_S = 0.1  # before a request is repeated because the server needs more time
_CHARS = 10_000  # of a question, of an address, and of a form's schema
_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
_ELICITATION = build_capabilities(ELICITING)


@dataclass(frozen=True, slots=True, kw_only=True)
class ElicitReply:
    """What is answered to a question."""

    action: ElicitAction
    """The action."""
    content: JsonObject = field(default_factory=dict)
    """The values of an accepted form."""
    by: str
    """What answered, in words."""
    is_written: bool = True
    """Whether somebody wrote it for this form, so that a value that does not fit is a mistake."""
    is_raw: bool = False
    """Whether the content is sent as it is, although it may not fit: a test of the server."""


Decide: TypeAlias = Callable[[Elicitation], Awaitable[ElicitReply]]
"""Answers a question."""


class UserQuestions:
    """The questions of a server in one trial; a `ForeignClient` of its sessions."""

    def __init__(self, decide: Decide) -> None:
        """Answer by ``decide``."""
        self._decide = decide
        self._epoch = anyio.current_time()
        self.asked: list[Elicitation] = []
        """All of them, in order."""
        self.fault: str | None = None
        """Why the first answer that does not fit its form could not be sent."""

    def notify(self, method: str, params: JsonObject) -> None:
        """Ignore a notification."""

    async def ask_client(self, method: str, params: JsonObject) -> JsonObject:
        """Refuse a question that belongs to no call (see `ForeignClient.ask_client`)."""
        why = "it came while no call was under way"
        if method == ELICITATION:
            self._record(replace(self._read(params, None), flaw=why, answered_by="nothing"))
        raise _refuse(why)

    async def answer(self, params: JsonObject, call: _CallQuestions) -> JsonObject:
        """Return the answer to a question during ``call``."""
        self._epoch = call.epoch
        asked = self._read(params, call)
        if call.count > MOST_QUESTIONS:
            why = f"it came after {MOST_QUESTIONS} others in the same call"
            # Once: a server that asks for ever would fill the log.
            if call.count == MOST_QUESTIONS + 1:
                self._record(replace(asked, flaw=why, answered_by="nothing"))
            raise _refuse(why)
        if asked.flaw is not None:
            self._record(replace(asked, action="cancel", answered_by="nothing"))
            return {"action": "cancel"}
        reply = await self._ask_decider(asked)
        sent, content = reply.action, None
        if sent == "accept" and asked.schema is not None:
            raw = reply.is_raw
            content = dict(reply.content) if raw else fill_form(asked.schema, reply.content)
            if wrong := () if raw else find_misfits(asked.schema, content):
                words = f"{reply.by} does not fit the form of {asked.tool}: {'; '.join(wrong)}"
                self.fault = self.fault or (words if reply.is_written else None)
                reply, sent, content = replace(reply, by=words), "cancel", None
        kept = None if content is None else mask_content(asked.schema or {}, content)
        self._record(replace(asked, action=sent, content=kept, answered_by=reply.by))
        return {"action": sent} if content is None else {"action": sent, "content": content}

    async def _ask_decider(self, asked: Elicitation) -> ElicitReply:
        try:
            return await self._decide(asked)
        # It would be the server's answer, and not reach the trial.
        except HarnessError as error:
            self.fault = self.fault or str(error)
            return ElicitReply(action="cancel", by=f"nothing: {error}")

    def _record(self, asked: Elicitation) -> None:
        if len(self.asked) < MOST_RECORDED:
            self.asked.append(asked)

    def _read(self, params: JsonObject, call: _CallQuestions | None) -> Elicitation:
        """Return the question in ``params``, with what is wrong with it."""
        message, mode = params.get("message"), params.get("mode", "form")
        schema, url = params.get("requestedSchema"), params.get("url")
        flaw = None
        if not isinstance(message, str) or not message.strip():
            flaw = "it has no message"
        elif mode == "url":
            flaw = None if _is_address(url) else "its address is none that a browser opens"
        elif mode != "form":
            flaw = f"its mode {str(mode)[:40]!r} is unknown"
        else:
            flaw = find_form_flaw(schema)
            if flaw is None and len(str(schema)) > _CHARS:
                flaw = f"its schema has more than {_CHARS:,} characters"
        is_url = mode == "url"
        return Elicitation(
            message=str("" if message is None else message)[:_CHARS],
            mode="url" if is_url else "form",
            tool="" if call is None else call.request.tool,
            request_id="" if call is None else call.request.id,
            reply=0 if call is None else call.reply,
            asked_s=round(anyio.current_time() - self._epoch, 6),
            schema=dict(schema) if isinstance(schema, Mapping) and not (flaw or is_url) else None,
            url=str(url)[:_CHARS] if is_url else None,
            flaw=None if flaw is None else f"the question cannot be shown: {flaw}",
        )


class _CallQuestions:
    """The questions during one call; a `ForeignClient` as long as it is under way."""

    def __init__(
        self, questions: UserQuestions, request: ToolRequest, reply: int, epoch: float
    ) -> None:
        self._questions = questions
        self.request = request
        self.reply = reply
        self.epoch = epoch
        self.count = 0

    def notify(self, method: str, params: JsonObject) -> None:
        """Ignore a notification."""

    async def ask_client(self, method: str, params: JsonObject) -> JsonObject:
        if method != ELICITATION:
            raise _refuse(f"this client does not answer {method}")
        self.count += 1
        return await self._questions.answer(params, self)


class AskableSession(SessionWrapper):
    """A session whose server may ask the user during calls; otherwise unchanged."""

    def __init__(self, session: Session, questions: UserQuestions) -> None:
        """Have the questions of ``session`` answered and recorded by ``questions``."""
        super().__init__(session)
        self._questions = questions

    async def call(self, request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
        """Send one call, and answer what the server asks (see `Session.call`)."""
        client = _CallQuestions(self._questions, request, reply, epoch)
        if isinstance(request, AskableRequest):
            # The program behind a forwarded request says what it can do itself.
            said = request.meta.get(_CAPABILITIES)
            able = {**(said if isinstance(said, Mapping) else {}), **_ELICITATION}
            meta = request.meta if said is None else {**request.meta, _CAPABILITIES: able}
            asked = replace(request, client=client, meta=meta)
        else:
            known = {each.name: getattr(request, each.name) for each in fields(ToolRequest)}
            asked = AskableRequest(**known, client=client)
        return await self._session.call(asked, reply=reply, epoch=epoch)

    def listen(self) -> AbstractAsyncContextManager[None]:
        """Hear, within the block, questions that come outside of calls."""
        return self._session.forward_messages(self._questions)


def _is_address(url: object) -> bool:
    if not isinstance(url, str):
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)


def _refuse(why: str) -> RequestRefused:
    return RequestRefused(why, code=_INVALID_REQUEST, said=why, data=None)


async def collect_input(result: JsonObject, client: ForeignClient) -> dict[str, Any] | None:
    """Return the answers to what ``result`` requests, and its state, to be sent with the next one.

    ``None`` if the client cannot answer.
    """
    asked = result.get("inputRequests")
    given: dict[str, Any] = {}
    try:
        for key, one in asked.items() if isinstance(asked, Mapping) else ():
            told = one if isinstance(one, Mapping) else {}
            params = told.get("params")
            given[key] = await client.ask_client(
                str(told.get("method")), params if isinstance(params, Mapping) else {}
            )
    except RequestRefused:
        return None
    state = {key: result[key] for key in ("requestState",) if key in result}
    if state and not given:
        await anyio.sleep(_AGAIN_S)
    # Without a state, the same request would get the same answer.
    return {"inputResponses": given, **state} if given else state or None
