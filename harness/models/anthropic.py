"""Models behind Anthropic's Messages API and endpoints compatible with it.

Decided here and not in the configuration:

- ``max_tokens``, which the API demands, is 16,384 unless configured (newer models think within it),
  and 4,096 at compatible endpoints, where the whole context may be small.
- ``temperature`` is not sent: the API has no such field since its version 2026-10-21, and refuses
  it. It is sent where the configured headers ask for an older version:
  ``anthropic-version: 2023-06-01``.
- Prompt caching: breakpoints after the tools, after the system prompt and after each of the last
  two messages of the user, so that a turn reads what the turn before it wrote, and every trial
  reads the tools. Four are the API's limit.
- A ``base_url`` may end in ``/v1`` or not.
- A reply that the API pauses (``pause_turn``) is continued, at most `MAX_PAUSES` times; its parts
  are one reply.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import httpx2
from anthropic import (
    APIConnectionError,
    APIStatusError,
    AsyncAnthropic,
    AsyncAnthropicBedrock,
    AsyncAnthropicVertex,
    DefaultAsyncHttpxClient,
    Omit,
)

from harness.base import Backoff, ModelError, full_jitter
from harness.models.conversation import CallIds, iterate_steps, parse_arguments, require_text
from harness.models.endpoint import (
    Endpoint,
    base_url,
    build_headers,
    build_timeout,
    build_url,
    find_key,
)
from harness.models.error_bodies import (
    Json,
    UnusableResponse,
    check_role,
    get_name,
    get_object,
    get_objects,
    get_text,
    get_type,
    quote_word,
    read_ending,
)
from harness.models.http_failures import ConnectionFailed
from harness.models.model import get_temperature, is_own
from harness.models.pricing import Pricer
from harness.models.providers.anthropic import get_dialect
from harness.models.tool_translation import Offer, Translation, Translator
from harness.models.wire import LOST, BoundedClient
from harness.types import (
    Media,
    Message,
    ModelSpec,
    Reply,
    ReplyStop,
    ToolAnswer,
    ToolList,
    ToolRequest,
    UserMessage,
    extract_thinking,
)

MAX_TOKENS = 16_384
MAX_TOKENS_ELSEWHERE = 4_096
_CACHE = {"type": "ephemeral"}
MAX_PAUSES = 10
"""How often a reply that the API pauses is continued."""
_PAUSED = "pause_turn"
_STOPS: dict[str, ReplyStop] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tool_calls",
    _PAUSED: "other",
}
"""What is no event (`harness.models.failure_events`)."""

ApiClient: TypeAlias = AsyncAnthropic | AsyncAnthropicBedrock | AsyncAnthropicVertex
"""The SDK's clients: of Anthropic's own API, and of clouds that serve it."""


class AnthropicHttpClient(BoundedClient, DefaultAsyncHttpxClient):
    """The SDK's HTTP client with bounds."""


def build_client_options(spec: ModelSpec, url: str) -> dict[str, Any]:
    """Return what each client of the SDK is made with; its service has its root at ``url``."""
    return {
        "base_url": url,
        "timeout": build_timeout(spec),
        # The SDK's own loop ignores a long Retry-After, and knows nothing of the other trials.
        "max_retries": 0,
        "http_client": AnthropicHttpClient(url, spec.max_reply_mb),
        "default_headers": build_headers(spec, inherited="ANTHROPIC_CUSTOM_HEADERS", omit=Omit()),
        # The runner's spans tell of each request; the SDK's would tell of it twice.
        "open_telemetry": False,
    }


_BLOCK = "content[]."


class AnthropicModel:
    """One model of the Messages API."""

    def __init__(self, spec: ModelSpec, *, backoff: Backoff = full_jitter) -> None:
        """Prepare the client; nothing is sent yet.

        Raises:
            UsageError: the configuration cannot work: no key, or no web address.
        """
        url = self._open_client(spec)
        pricer = Pricer(spec, url=url, flavour="default")
        self._endpoint = Endpoint(spec, pricer=pricer, url=url, post=self._post, backoff=backoff)
        self._name = spec.name
        self._translator = Translator(get_dialect(spec), _build_tools)
        self._fixed = _fixed_fields(spec)

    def _open_client(self, spec: ModelSpec) -> str:
        """Make the SDK's client, and return the API's root."""
        # The path below begins with /v1: a root that ends in it would have it twice.
        url = base_url(spec).removesuffix("/v1")
        self._url = build_url(spec, "/v1/messages", root=url)
        options = build_client_options(spec, url)
        self._repeating: BoundedClient = options["http_client"]
        self._client: ApiClient = AsyncAnthropic(
            api_key=find_key(spec) or "none",  # never sent: without a key there is no header for it
            **options,
        )
        return url

    async def answer(
        self, conversation: Sequence[Message], tools: ToolList, system: str | None
    ) -> Reply:
        """Return the model's next reply; see `harness.models.Model`."""
        translation = self._translator(tools)
        body: Json = {**self._fixed, "messages": self._build_messages(conversation, translation)}
        if system and system.strip():
            body["system"] = [{"type": "text", "text": system, "cache_control": _CACHE}]
        if translation.wire:
            body["tools"] = translation.wire
        read = partial(self._read_reply, translation=translation, conversation=conversation)
        return translation.say_once(await self._ask_to_end(body, read))

    async def _ask_to_end(self, body: Json, read: Callable[[Json], Reply]) -> Reply:
        """Return the reply to ``body``, continued as long as the API pauses it."""
        # Each part is a request of its own, with retries of its own.
        reply = await self._endpoint.ask(body, read)
        for _ in range(MAX_PAUSES):
            if reply.stop != "other":
                return reply
            said = {"role": "assistant", "content": _without_blanks(reply.native)}
            further = {**body, "messages": [*body["messages"], said]}
            try:
                reply = _join_replies(reply, await self._endpoint.ask(further, read))
            except ModelError as error:
                # The parts before it were paid for: a limit on costs must see them.
                error.usage += reply.usage
                error.attempts += reply.attempts
                error.waited_s += reply.waited_s
                raise
        if reply.stop != "other":
            return reply
        message = (
            f"{self._name}: the reply was paused {MAX_PAUSES + 1} times ({_PAUSED}), and did not "
            "come to an end"
        )
        raise ModelError(
            message,
            kind="provider",
            status=200,
            attempts=reply.attempts,
            waited_s=reply.waited_s,
            usage=reply.usage,
        )

    async def aclose(self) -> None:
        """Close connections."""
        # `Model.aclose` never raises: when it is called, the run is over, whatever fails here.
        with suppress(httpx2.HTTPError, OSError, RuntimeError):
            await self._client.close()

    async def _send(self, content: bytes) -> httpx2.Response:
        # Not for other services: their SDKs sign each request, or renew its token.
        if (response := await self._repeating.repeat(content)) is not None:
            return response
        return await self._client.post(self._url, cast_to=httpx2.Response, content=content)

    async def _post(self, content: bytes) -> httpx2.Response:
        try:
            return await self._send(content)
        # The SDK raises for an error's status; `Endpoint` reads its body as that of any response.
        except APIStatusError as error:
            return error.response
        except APIConnectionError as error:
            # The SDK's own words are the same for all failures: the HTTP client's say which it was.
            raise ConnectionFailed(error.__cause__ or error) from None
        except LOST as error:
            raise ConnectionFailed(error) from None

    # ── Out ──────────────────────────────────────────────────────────────────────────────────

    def _build_messages(
        self, conversation: Sequence[Message], translation: Translation
    ) -> list[Json]:
        """Return alternating messages; consecutive messages of the user and of tools become one."""
        messages: list[Json] = []
        for step in iterate_steps(conversation):
            if isinstance(step, Reply):
                role, blocks = "assistant", self._sent_back(step, translation)
            elif isinstance(step, UserMessage):
                role, blocks = "user", _build_content(step.text, step.media)
            else:
                role, blocks = "user", [_build_result(answer) for answer in step]
            if messages and messages[-1]["role"] == role:
                messages[-1]["content"] += blocks
            # The API refuses a message without content, such as a reply that said nothing.
            elif blocks:
                messages.append({"role": role, "content": blocks})
        # The last but one reads what the turn before wrote, the last one writes for the next turn.
        for message in [message for message in messages if message["role"] == "user"][-2:]:
            # A copy: what a reply or a result holds is logged, and sent again with other marks.
            message["content"][-1] = {**message["content"][-1], "cache_control": _CACHE}
        return messages

    def _sent_back(self, reply: Reply, translation: Translation) -> list[Json]:
        """Return the blocks of an earlier reply, without blank text, which the API refuses."""
        # Sent back as it came: blocks of thinking carry a signature that must not change.
        if isinstance(reply.native, list):
            return _without_blanks(reply.native)
        # Without its own form: another model's reply, or one whose calls were not made.
        text = reply.raw_text
        blocks: list[Json] = [{"type": "text", "text": text}] if text.strip() else []
        for request in reply.tool_requests:
            name, arguments = translation.translate_outward(request.tool, request.arguments)
            # A model may have called a tool that was never offered, by a name that the API refuses.
            name = self._translator.legal_name(name)
            blocks.append({"type": "tool_use", "id": request.id, "name": name, "input": arguments})
        return blocks

    # ── In ───────────────────────────────────────────────────────────────────────────────────

    def _read_reply(
        self, data: Json, translation: Translation, conversation: Sequence[Message]
    ) -> Reply:
        if (kind := get_text(data, "type")) not in ("", "message"):
            raise UnusableResponse(f"its type is {quote_word(kind)}, and not 'message'")
        check_role(data)
        if data.get("content") is None:
            raise UnusableResponse("it has no content")
        content = get_objects(data, "content")
        texts = [get_text(b, "text", _BLOCK) for b in content if get_type(b, _BLOCK) == "text"]
        # Before the ending is read: calls count even where `stop_reason` does not announce them.
        requests = self._take_calls(content, translation, CallIds(conversation))
        reason = get_text(data, "stop_reason")
        refusal = get_text(get_object(data, "stop_details"), "explanation", "stop_details.")
        text = "\n".join(filter(None, texts))
        stop = read_ending(reason, _STOPS, "stop_reason", text=text, calls=bool(requests))
        # It cannot be continued: the API refuses a message of the assistant without content.
        if stop == "other" and not _without_blanks(content):
            raise UnusableResponse("it was paused without any content")
        given_up = stop == "refusal" and requests  # calls before a refusal are not made
        reply = Reply(
            text=text or refusal,
            thinking=extract_thinking({}, content),
            tool_requests=() if given_up else requests,
            stop=stop,
            stop_detail=": ".join(part for part in (reason, refusal) if part) or None,
            native=None if given_up else content,
        )
        return translation.mark_written_call(reply)

    def _take_calls(
        self, content: list[Json], translation: Translation, ids: CallIds
    ) -> tuple[ToolRequest, ...]:
        """Return the calls in ``content``, and repair parts that the API would not accept back."""
        requests = []
        for block in content:
            if block.get("type") != "tool_use":
                continue
            arguments, malformed = parse_arguments(block.get("input"))
            # Changed in place: the block is sent back, and its result has to name the same id.
            block["id"], block["input"] = ids.take(get_text(block, "id", _BLOCK)), arguments
            name = get_name(block, _BLOCK)
            block["name"] = self._translator.legal_name(name)
            tool, arguments = translation.translate_inward(name, arguments)
            requests.append(
                ToolRequest(id=block["id"], tool=tool, arguments=arguments, malformed=malformed)
            )
        return tuple(requests)


def _fixed_fields(spec: ModelSpec) -> Json:
    """Return the fields of every request of a model."""
    usual = MAX_TOKENS if is_own(spec) else MAX_TOKENS_ELSEWHERE
    fields: Json = {"model": spec.model_id, "max_tokens": spec.max_tokens or usual}
    if (warmth := get_temperature(spec)) is not None:
        fields["temperature"] = warmth
    # Last, so that the configured body has its way over every field of ours.
    return {**fields, **spec.body}


def _build_tools(offers: Sequence[Offer]) -> list[Json]:
    wire: list[Json] = []
    for offer in offers:
        described = {"description": offer.description} if offer.description else {}
        wire.append({"name": offer.name, **described, "input_schema": offer.schema})
    if wire:
        # One mark after the last tool covers all of them.
        wire[-1]["cache_control"] = _CACHE
    return wire


def _build_result(answer: ToolAnswer) -> Json:
    block: Json = {"type": "tool_result", "tool_use_id": answer.request_id, "content": answer.text}
    # The API refuses an error without text.
    failed = {"content": answer.text or "The call failed.", "is_error": True}
    if answer.is_error:
        return block | failed
    return (
        {**block, "content": _build_content(answer.text, answer.media)} if answer.media else block
    )


def _build_content(text: str, media: Sequence[Media]) -> list[Json]:
    """Return ``text`` and what comes with it as blocks, without blank text."""
    blocks: list[Json] = [{"type": "text", "text": text}] if text.strip() else []
    for one in media:
        source = {"type": "base64", "media_type": one.mime, "data": one.data}
        blocks.append({"type": "image" if one.kind == "image" else "document", "source": source})
    return blocks


def _without_blanks(content: list[Json]) -> list[Json]:
    """Return the blocks without blank text, which the API refuses."""
    return [
        block
        for block in content
        if block.get("type") != "text" or require_text(block.get("text")).strip()
    ]


def _join_replies(paused: Reply, rest: Reply) -> Reply:
    """Return a paused reply joined with its continuation."""
    return replace(
        rest,
        text="\n".join(filter(None, (paused.text, rest.text))),
        thinking="\n\n".join(filter(None, (paused.thinking, rest.thinking))),
        whole="\n".join(filter(None, (paused.raw_text, rest.raw_text))),
        usage=paused.usage + rest.usage,
        native=None if rest.native is None else [*paused.native, *rest.native],
        attempts=paused.attempts + rest.attempts,
        waited_s=paused.waited_s + rest.waited_s,
    )
