"""OpenAI's Chat Completions API, and every endpoint compatible with it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from harness.base import Backoff, full_jitter
from harness.models.conversation import (
    FILE_NAME,
    CallIds,
    build_data_url,
    dump_arguments,
    error_text,
    iterate_steps,
    parse_arguments,
)
from harness.models.error_bodies import (
    Json,
    UnusableResponse,
    check_role,
    get_name,
    get_object,
    get_objects,
    get_text,
    read_ending,
)
from harness.models.failure_events import find_ending_event
from harness.models.model import is_own
from harness.models.openai_connection import OpenAIConnection, build_sampling, read_refusal
from harness.models.providers.openai import get_dialect
from harness.models.tool_translation import Offer, Translation, Translator
from harness.types import (
    Media,
    Message,
    ModelSpec,
    Reply,
    ReplyStop,
    ToolList,
    ToolRequest,
    UserMessage,
    extract_thinking,
    is_visible,
)

_STOPS: dict[str, ReplyStop] = {
    "stop": "end",
    "tool_calls": "tool_calls",
    "": "end",  # some servers send nothing
    # Words of other APIs, which some compatible endpoints hand on.
    "eos": "end",
    "eos_token": "end",
    "end_turn": "end",
    "stop_sequence": "end",
    "complete": "end",
    "tool_use": "tool_calls",
    "tool_call": "tool_calls",
}
"""What is no event (`harness.models.failure_events`)."""


_PATH = "choices[0].message."
_CALL = f"{_PATH}tool_calls[]."


class OpenAIChat:
    """One model of the Chat Completions API."""

    connection_type: ClassVar[type[OpenAIConnection]] = OpenAIConnection
    """What sends the requests."""

    def __init__(self, spec: ModelSpec, *, backoff: Backoff = full_jitter) -> None:
        """Prepare the client; nothing is sent yet.

        Raises:
            UsageError: the configuration cannot work: no key, or no web address.
        """
        self._connection = self.connection_type(spec, "/chat/completions", "chat", backoff)
        self._translator = Translator(get_dialect(spec), _build_tools)
        self._fixed = _fixed_fields(spec)

    async def answer(
        self, conversation: Sequence[Message], tools: ToolList, system: str | None
    ) -> Reply:
        """Return the model's next reply; see `harness.models.Model`."""
        translation = self._translator(tools)
        messages = self._build_messages(conversation, system, translation)
        body: Json = {**self._fixed, "messages": messages}
        if translation.wire:
            body["tools"] = translation.wire
        read = partial(self._read_reply, translation=translation, conversation=conversation)
        return translation.say_once(await self._connection.endpoint.ask(body, read))

    async def aclose(self) -> None:
        """Close connections."""
        await self._connection.aclose()

    # ── Out ──────────────────────────────────────────────────────────────────────────────────

    def _build_messages(
        self, conversation: Sequence[Message], system: str | None, translation: Translation
    ) -> list[Json]:
        messages: list[Json] = (
            [{"role": "system", "content": system}] if system and system.strip() else []
        )
        for step in iterate_steps(conversation):
            if isinstance(step, Reply):
                messages.append(self._sent_back(step, translation))
            elif isinstance(step, UserMessage):
                messages.append(_build_user_message(step.text, step.media))
            else:
                messages += [
                    {
                        "role": "tool",
                        "tool_call_id": answer.request_id,
                        "content": error_text(answer),
                    }
                    for answer in step
                ]
                # Messages of tools take text alone: what came with it follows them all.
                if media := [one for answer in step for one in answer.media]:
                    messages.append(_build_user_message(FROM_TOOLS, media))
        return messages

    def _sent_back(self, reply: Reply, translation: Translation) -> Json:
        """Return an earlier reply in the API's own form."""
        if isinstance(reply.native, dict):
            # As it came: compatible servers want their own further fields back.
            return reply.native
        calls = []
        for request in reply.tool_requests:
            name, arguments = translation.translate_outward(request.tool, request.arguments)
            name = self._translator.legal_name(name)
            function = {"name": name, "arguments": dump_arguments(arguments)}
            calls.append({"id": request.id, "type": "function", "function": function})
        message: Json = {"role": "assistant", "content": reply.raw_text}
        return {**message, "tool_calls": calls} if calls else message

    # ── In ───────────────────────────────────────────────────────────────────────────────────

    def _read_reply(
        self, data: Json, translation: Translation, conversation: Sequence[Message]
    ) -> Reply:
        if not (choices := get_objects(data, "choices")):
            raise UnusableResponse("it has no choices")
        reason = _ending_word(choices[0])
        message = get_object(choices[0], "message", "choices[0].")
        # A reply that a filter stopped may have no message: its ending says what happened.
        if not message and find_ending_event(reason) is None:
            raise UnusableResponse("choices[0] has no message")
        check_role(message, _PATH)
        # To ignore it would judge the model by an answer that it did not give.
        if message.get("function_call") is not None:
            raise UnusableResponse(
                "it calls a function in the old form (function_call), which is not offered"
            )
        # Some servers send a list of parts where OpenAI sends a text.
        content = message.get("content")
        parts = get_objects(message, "content", _PATH) if isinstance(content, list) else []
        refusal = get_text(message, "refusal", _PATH) or read_refusal(parts, f"{_PATH}content.")
        if parts:
            shown = (get_text(p, "text", f"{_PATH}content.") for p in parts if is_visible(p))
            text = "\n".join(filter(None, shown))
        else:
            # An empty list holds no part, and would be no text for `get_text`.
            text = "" if content == [] else get_text(message, "content", _PATH)
        native, requests = self._take_calls(message, translation, CallIds(conversation))
        # After the calls are read: they count even where `finish_reason` does not announce them.
        stop = read_ending(
            reason, _STOPS, "finish_reason", text=text, calls=bool(requests), refusal=refusal
        )
        given_up = stop == "refusal" and requests  # calls before a refusal are not made
        reply = Reply(
            text=text or refusal,
            thinking=extract_thinking(message, parts),
            tool_requests=() if given_up else requests,
            stop=stop,
            stop_detail=": ".join(part for part in (reason, refusal) if part) or None,
            native=None if given_up else native,
        )
        return translation.mark_written_call(reply)

    def _take_calls(
        self, message: Json, translation: Translation, ids: CallIds
    ) -> tuple[Json, tuple[ToolRequest, ...]]:
        """Return ``message`` in the form that the API accepts back, and the calls in it.

        Fields that are null are removed, since some servers refuse them; all refuse an empty list
        of calls, a call without a name or a unique id, and a message without any content.
        """
        # A copy: the calls of `message` are read below, and its thinking after that.
        native = {k: v for k, v in message.items() if v is not None or k == "content"}
        # A reply may lack its role (`check_role`); a message that is sent must have it.
        native["role"] = "assistant"
        calls, requests = [], []
        native.pop("tool_calls", None)
        for call in get_objects(message, "tool_calls", _PATH):
            if not (function := get_object(call, "function", _CALL)):
                raise UnusableResponse("a call in it is not a function call")
            name, raw = get_name(function, f"{_CALL}function."), function.get("arguments")
            arguments, malformed = parse_arguments(raw)
            # The same id on the wire and in the record: the result has to name it.
            call_id = ids.take(get_text(call, "id", _CALL))
            # Several servers parse it when it comes back, and fail if it is no object.
            text = raw if isinstance(raw, str) and arguments else dump_arguments(arguments)
            sent_back = {**function, "name": self._translator.legal_name(name), "arguments": text}
            calls.append({**call, "id": call_id, "type": "function", "function": sent_back})
            tool, arguments = translation.translate_inward(name, arguments)
            requests.append(
                ToolRequest(id=call_id, tool=tool, arguments=arguments, malformed=malformed)
            )
        if calls:
            native["tool_calls"] = calls
        # A silent reply: APIs refuse a message with neither text nor calls nor a refusal.
        elif native.get("content") is None and "refusal" not in native:
            native["content"] = ""
        return native, tuple(requests)


FROM_TOOLS = "What the tools returned beside text, in the order of their results:"
"""Stands before the pictures of tools."""


def _build_user_message(text: str, media: Sequence[Media]) -> Json:
    if not media:
        return {"role": "user", "content": text}
    parts: list[Json] = [{"type": "text", "text": text}] if text else []
    return {"role": "user", "content": [*parts, *map(_build_part, media)]}


def _build_part(media: Media) -> Json:
    if media.kind == "image":
        return {"type": "image_url", "image_url": {"url": build_data_url(media)}}
    if media.kind == "audio":
        form = "wav" if "wav" in media.mime else "mp3"
        return {"type": "input_audio", "input_audio": {"data": media.data, "format": form}}
    # The API takes a PDF only with a name.
    file = {"filename": FILE_NAME, "file_data": build_data_url(media)}
    return {"type": "file", "file": file}


def _ending_word(choice: Json) -> str:
    """Return the word for the ending of a reply.

    It is the provider's own, where a gateway hides a malformed call behind a plainer word.
    """
    own = choice.get("native_finish_reason")
    # Only then: for all other endings the gateway's word is the documented one.
    if isinstance(own, str) and find_ending_event(own) == "malformed_call":
        return own
    return get_text(choice, "finish_reason", "choices[0].")


def _fixed_fields(spec: ModelSpec) -> Json:
    """Return the fields of every request of a model."""
    fields: Json = {"model": spec.model_id, **build_sampling(spec)}
    # A field of the body takes its place: with both names a request would have two limits.
    is_configured = spec.body.keys() & {"max_tokens", "max_completion_tokens"}
    if spec.max_tokens is not None and not is_configured:
        fields["max_completion_tokens" if is_own(spec) else "max_tokens"] = spec.max_tokens
    # Last, so that the configured body has its way over every field of ours.
    return {**fields, **spec.body}


def _build_tools(offers: Sequence[Offer]) -> list[Json]:
    wire: list[Json] = []
    for offer in offers:
        described = {"description": offer.description} if offer.description else {}
        function = {"name": offer.name, **described, "parameters": offer.schema}
        wire.append({"type": "function", "function": function})
    return wire
