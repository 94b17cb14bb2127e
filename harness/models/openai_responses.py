"""OpenAI's Responses API.

Nothing is stored at OpenAI (``store: false``): each request carries the whole conversation, reasoning
included. Reasoning then travels encrypted, which is asked for where the model is one that reasons;
the others refuse the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.models.conversation import CallIds, dump_arguments, error_text, items, parse_arguments, text_of, turns
from harness.models.endpoint import Exchange, completed
from harness.models.openai_connection import OpenAIConnection, refusal_of, sampling
from harness.models.pricing import Pricer
from harness.models.retry import Backoff, full_jitter
from harness.models.schemas import OPENAI
from harness.models.settings import is_reasoning
from harness.models.translate import Offer, Translation, Translator
from harness.types import Message, ModelSpec, Reply, ReplyStop, ToolList, ToolRequest

Json = dict[str, Any]

_STOPS: dict[str, ReplyStop] = {
    "completed": "end",
    "max_output_tokens": "max_tokens",
    "content_filter": "refusal",
}


class OpenAIResponses:
    """One model of the Responses API."""

    def __init__(self, spec: ModelSpec, *, backoff: Backoff = full_jitter) -> None:
        """Prepare the client; nothing is sent yet.

        Raises:
            UsageError: the configuration cannot work: no key, or no web address.
        """
        self._connection = OpenAIConnection(spec, "/responses", backoff)
        self._pricer = Pricer(spec, url=self._connection.url, flavour="responses")
        self._translator = Translator(OPENAI, _wire)
        self._fixed = _fixed_fields(spec)

    async def answer(self, conversation: Sequence[Message], tools: ToolList, system: str | None) -> Reply:
        """Return the model's next reply; see `harness.models.Model`."""
        translation = self._translator(tools)
        body: Json = {**self._fixed, "input": self._input(conversation, translation)}
        if system and system.strip():
            body["instructions"] = system
        if translation.wire:
            body["tools"] = translation.wire
        exchange = await self._connection.endpoint.exchange(body)
        return completed(self._read(exchange, translation), exchange)

    async def aclose(self) -> None:
        """Give back connections."""
        await self._connection.aclose()

    # ── Out ──────────────────────────────────────────────────────────────────────────────────

    def _input(self, conversation: Sequence[Message], translation: Translation) -> list[Json]:
        result: list[Json] = []
        for turn in turns(conversation):
            if isinstance(turn, Reply):
                result += self._sent_back(turn, translation)
            elif isinstance(turn, str):
                result.append({"role": "user", "content": turn})
            else:
                result += [
                    {"type": "function_call_output", "call_id": answer.request_id, "output": error_text(answer)}
                    for answer in turn
                ]
        return result

    def _sent_back(self, reply: Reply, translation: Translation) -> list[Json]:
        """Return the items of an earlier reply as the API wrote them."""
        if isinstance(reply.native, list):
            return reply.native
        result: list[Json] = [{"role": "assistant", "content": reply.text}] if reply.text else []
        for request in reply.tool_requests:
            name, arguments = translation.outward(request.tool, request.arguments)
            text = dump_arguments(arguments) if request.malformed is None else request.malformed
            call = {"call_id": request.id, "name": self._translator.legal_name(name), "arguments": text}
            result.append({"type": "function_call", **call})
        return result

    # ── In ───────────────────────────────────────────────────────────────────────────────────

    def _read(self, exchange: Exchange, translation: Translation) -> Reply:
        data = exchange.data
        if not isinstance(data.get("output"), list):
            raise self._connection.endpoint.unusable("the reply has no output", exchange)
        output = items(data["output"])
        parts = [part for item in output if item.get("type") == "message" for part in items(item.get("content"))]
        texts = [text for part in parts if part.get("type") == "output_text" and (text := text_of(part.get("text")))]
        refusal = refusal_of(parts)
        requests = self._take_calls(output, translation)
        reason = _reason(data)
        stop = "refusal" if refusal else _STOPS.get(reason, "other")
        if requests and stop not in {"max_tokens", "refusal"}:
            stop = "tool_calls"
        given_up = stop == "refusal" and requests  # calls that the refusal cut off are not to be made
        while output and output[-1].get("type") == "reasoning":  # led to nothing, and is refused alone
            output.pop()
        return Reply(
            text="\n".join(texts) or refusal,
            tool_requests=() if given_up else requests,
            stop=stop,
            stop_detail=": ".join(part for part in (reason, refusal) if part) or None,
            usage=self._pricer.usage(data),
            native=None if given_up else output,
            served_by=text_of(data.get("model")) or None,
        )

    def _take_calls(self, output: list[Json], translation: Translation) -> tuple[ToolRequest, ...]:
        """Return the calls in ``output``, and mend in it what the API itself would not take back."""
        ids = CallIds()
        requests = []
        for item in output:
            if item.get("type") != "function_call":
                continue
            raw = item.get("arguments")
            arguments, malformed = parse_arguments(raw)
            item["call_id"] = ids.take(item.get("call_id"))
            item["arguments"] = raw if isinstance(raw, str) and raw.strip() else dump_arguments(arguments)
            name = text_of(item.get("name"))
            item["name"] = self._translator.legal_name(name)
            tool, arguments = translation.inward(name, arguments)
            requests.append(ToolRequest(id=item["call_id"], tool=tool, arguments=arguments, malformed=malformed))
        return tuple(requests)


def _reason(data: Json) -> str:
    """Return why the reply ended: the reason that it is incomplete, or else its status."""
    details = data.get("incomplete_details")
    reason = text_of(details.get("reason")) if isinstance(details, dict) else ""
    return reason or text_of(data.get("status")) or "completed"


def _fixed_fields(spec: ModelSpec) -> Json:
    """Return what every request of a model says."""
    fields: Json = {"model": spec.model_id, "store": False, **sampling(spec)}
    if spec.max_tokens is not None:
        fields["max_output_tokens"] = spec.max_tokens
    if is_reasoning(spec):
        fields["include"] = ["reasoning.encrypted_content"]
    return {**fields, **spec.body}


def _wire(offers: Sequence[Offer]) -> list[Json]:
    wire: list[Json] = []
    for offer in offers:
        described = {"description": offer.description} if offer.description else {}
        # Left out, `strict` means that OpenAI may narrow the schema; a server's schema is what it is.
        wire.append({"type": "function", "name": offer.name, **described, "parameters": offer.schema, "strict": False})
    return wire
