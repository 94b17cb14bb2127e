"""OpenAI's Chat Completions API, and every endpoint compatible with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.models.conversation import CallIds, dump_arguments, error_text, items, parse_arguments, text_of, turns
from harness.models.endpoint import Exchange, completed
from harness.models.openai_connection import OpenAIConnection, refusal_of, sampling
from harness.models.pricing import Pricer
from harness.models.retry import Backoff, full_jitter
from harness.models.schemas import OPENAI
from harness.models.settings import is_own, is_reasoning
from harness.models.translate import Offer, Translation, Translator
from harness.types import Message, ModelSpec, Reply, ReplyStop, ToolList, ToolRequest

Json = dict[str, Any]

_STOPS: dict[str | None, ReplyStop] = {
    "stop": "end",
    "tool_calls": "end",  # …without a call in it
    None: "end",  # some servers say nothing
    "length": "max_tokens",
    "content_filter": "refusal",
}


class OpenAIChat:
    """One model of the Chat Completions API."""

    def __init__(self, spec: ModelSpec, *, backoff: Backoff = full_jitter) -> None:
        """Prepare the client; nothing is sent yet.

        Raises:
            UsageError: the configuration cannot work: no key, or no web address.
        """
        self._connection = OpenAIConnection(spec, "/chat/completions", backoff)
        self._pricer = Pricer(spec, url=self._connection.url, flavour="chat")
        self._translator = Translator(OPENAI, _wire)
        self._fixed = _fixed_fields(spec)

    async def answer(self, conversation: Sequence[Message], tools: ToolList, system: str | None) -> Reply:
        """Return the model's next reply; see `harness.models.Model`."""
        translation = self._translator(tools)
        body: Json = {**self._fixed, "messages": self._messages(conversation, system, translation)}
        if translation.wire:
            body["tools"] = translation.wire
        exchange = await self._connection.endpoint.exchange(body)
        return completed(self._read(exchange, translation), exchange)

    async def aclose(self) -> None:
        """Give back connections."""
        await self._connection.aclose()

    # ── Out ──────────────────────────────────────────────────────────────────────────────────

    def _messages(self, conversation: Sequence[Message], system: str | None, translation: Translation) -> list[Json]:
        messages: list[Json] = [{"role": "system", "content": system}] if system and system.strip() else []
        for turn in turns(conversation):
            if isinstance(turn, Reply):
                messages.append(self._sent_back(turn, translation))
            elif isinstance(turn, str):
                messages.append({"role": "user", "content": turn})
            else:
                messages += [
                    {"role": "tool", "tool_call_id": answer.request_id, "content": error_text(answer)}
                    for answer in turn
                ]
        return messages

    def _sent_back(self, reply: Reply, translation: Translation) -> Json:
        """Return an earlier reply as the API wrote it."""
        if isinstance(reply.native, dict):
            return reply.native
        calls = []
        for request in reply.tool_requests:
            name, arguments = translation.outward(request.tool, request.arguments)
            text = dump_arguments(arguments) if request.malformed is None else request.malformed
            function = {"name": self._translator.legal_name(name), "arguments": text}
            calls.append({"id": request.id, "type": "function", "function": function})
        return {"role": "assistant", "content": reply.text, **({"tool_calls": calls} if calls else {})}

    # ── In ───────────────────────────────────────────────────────────────────────────────────

    def _read(self, exchange: Exchange, translation: Translation) -> Reply:
        data = exchange.data
        choices = items(data.get("choices"))
        message = choices[0].get("message") if choices else None
        if not isinstance(message, dict):
            raise self._connection.endpoint.unusable("the reply has no choices", exchange)
        content = message.get("content")
        parts = items(content)  # some servers send parts where OpenAI sends a text
        refusal = text_of(message.get("refusal")) or refusal_of(parts)
        text = "\n".join(text_of(part.get("text")) for part in parts if part.get("text")) or text_of(content)
        native, requests = self._take_calls(message, translation)
        reason = choices[0].get("finish_reason")
        stop = "refusal" if refusal else _STOPS.get(reason, "other")
        if requests and stop not in {"max_tokens", "refusal"}:
            stop = "tool_calls"
        given_up = stop == "refusal" and requests  # calls that the refusal cut off are not to be made
        return Reply(
            text=text or refusal,
            tool_requests=() if given_up else requests,
            stop=stop,
            stop_detail=": ".join(part for part in (text_of(reason), refusal) if part) or None,
            usage=self._pricer.usage(data),
            native=None if given_up else native,
            served_by=text_of(data.get("model")) or None,
        )

    def _take_calls(self, message: Json, translation: Translation) -> tuple[Json, tuple[ToolRequest, ...]]:
        """Return ``message`` as the API takes it back, and the calls in it.

        A field that is null says nothing, and some servers refuse it; so do all an empty list of
        calls, a call without a name or id of its own, and a message without any content.
        """
        native = {field: value for field, value in message.items() if value is not None or field == "content"}
        native["role"] = "assistant"
        ids, calls, requests = CallIds(), [], []
        for call in items(native.pop("tool_calls", None)):
            function = call.get("function")
            if not isinstance(function, dict):
                continue
            name, raw = text_of(function.get("name")), function.get("arguments")
            arguments, malformed = parse_arguments(raw)
            call_id = ids.take(call.get("id"))
            text = raw if isinstance(raw, str) and raw.strip() else dump_arguments(arguments)
            sent_back = {**function, "name": self._translator.legal_name(name), "arguments": text}
            calls.append({**call, "id": call_id, "type": "function", "function": sent_back})
            tool, arguments = translation.inward(name, arguments)
            requests.append(ToolRequest(id=call_id, tool=tool, arguments=arguments, malformed=malformed))
        if calls:
            native["tool_calls"] = calls
        elif native.get("content") is None and "refusal" not in native:
            native["content"] = ""
        return native, tuple(requests)


def _fixed_fields(spec: ModelSpec) -> Json:
    """Return what every request of a model says."""
    fields: Json = {"model": spec.model_id, **sampling(spec)}
    newer = is_own(spec) or is_reasoning(spec)
    if spec.max_tokens is not None and not spec.body.keys() & {"max_tokens", "max_completion_tokens"}:
        fields["max_completion_tokens" if newer else "max_tokens"] = spec.max_tokens
    return {**fields, **spec.body}


def _wire(offers: Sequence[Offer]) -> list[Json]:
    wire: list[Json] = []
    for offer in offers:
        described = {"description": offer.description} if offer.description else {}
        wire.append({"type": "function", "function": {"name": offer.name, **described, "parameters": offer.schema}})
    return wire
