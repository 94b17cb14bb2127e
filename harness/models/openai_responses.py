"""OpenAI's Responses API.

Nothing is stored at OpenAI (``store: false``): each request carries the whole conversation,
reasoning included. Reasoning is then sent encrypted, which is asked for; a model without reasoning
refuses that once (`harness.models.http_failures`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

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
    get_type,
    read_ending,
)
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
)

_STATUSES: dict[str, ReplyStop] = {"completed": "end", "": "end"}  # some servers send nothing
"""What is no event (`harness.models.failure_events`)."""

_PART = "output[].content[]."


class OpenAIResponses:
    """One model of the Responses API."""

    def __init__(self, spec: ModelSpec, *, backoff: Backoff = full_jitter) -> None:
        """Prepare the client; nothing is sent yet.

        Raises:
            UsageError: the configuration cannot work: no key, or no web address.
        """
        self._connection = OpenAIConnection(spec, "/responses", "responses", backoff)
        self._translator = Translator(get_dialect(spec), _build_tools)
        self._fixed = _fixed_fields(spec)

    async def answer(
        self, conversation: Sequence[Message], tools: ToolList, system: str | None
    ) -> Reply:
        """Return the model's next reply; see `harness.models.Model`."""
        translation = self._translator(tools)
        body: Json = {**self._fixed, "input": self._build_input(conversation, translation)}
        if system and system.strip():
            body["instructions"] = system
        if translation.wire:
            body["tools"] = translation.wire
        read = partial(self._read_reply, translation=translation, conversation=conversation)
        return translation.say_once(await self._connection.endpoint.ask(body, read))

    async def aclose(self) -> None:
        """Close connections."""
        await self._connection.aclose()

    # ── Out ──────────────────────────────────────────────────────────────────────────────────

    def _build_input(self, conversation: Sequence[Message], translation: Translation) -> list[Json]:
        result: list[Json] = []
        for step in iterate_steps(conversation):
            if isinstance(step, Reply):
                result += self._sent_back(step, translation)
            elif isinstance(step, UserMessage):
                content = _build_content(step.text, step.media)
                result.append({"role": "user", "content": content})
            else:
                kind = "function_call_output"
                result += [
                    {
                        "type": kind,
                        "call_id": answer.request_id,
                        "output": _build_content(error_text(answer), answer.media),
                    }
                    for answer in step
                ]
        return result

    def _sent_back(self, reply: Reply, translation: Translation) -> list[Json]:
        """Return the items of an earlier reply as the API wrote them."""
        if isinstance(reply.native, list):
            return reply.native
        # Without its own form: another model's reply, or one whose calls were not made.
        text = reply.raw_text
        result: list[Json] = [{"role": "assistant", "content": text}] if text else []
        for request in reply.tool_requests:
            name, arguments = translation.translate_outward(request.tool, request.arguments)
            name = self._translator.legal_name(name)
            call = {"call_id": request.id, "name": name, "arguments": dump_arguments(arguments)}
            result.append({"type": "function_call", **call})
        return result

    # ── In ───────────────────────────────────────────────────────────────────────────────────

    def _read_reply(
        self, data: Json, translation: Translation, conversation: Sequence[Message]
    ) -> Reply:
        if data.get("output") is None:
            raise UnusableResponse("it has no output")
        output = get_objects(data, "output")
        messages = (item for item in output if get_type(item, "output[].") == "message")
        parts = [part for item in messages for part in _list_parts(item)]
        texts = [get_text(p, "text", _PART) for p in parts if get_type(p, _PART) == "output_text"]
        refusal = read_refusal(parts, _PART)
        reasoning = (item for item in output if item.get("type") == "reasoning")
        thinking = extract_thinking({}, reasoning)
        requests = self._take_calls(output, translation, CallIds(conversation))
        status = get_text(data, "status")
        reason = get_text(get_object(data, "incomplete_details"), "reason")
        # A reason says more than a status that is missing, or that claims the reply is whole.
        if status == "incomplete" or (reason and status in _STATUSES):
            field, word = "incomplete_details.reason", reason
        else:
            field, word = "status", status
        known = _STATUSES if field == "status" else {}
        text = "\n".join(filter(None, texts))
        stop = read_ending(word, known, field, text=text, calls=bool(requests), refusal=refusal)
        given_up = stop == "refusal" and requests  # calls before a refusal are not made
        # Without a following item the API refuses it.
        while output and output[-1].get("type") == "reasoning":
            output.pop()
        reply = Reply(
            text=text or refusal,
            thinking=thinking,
            tool_requests=() if given_up else requests,
            stop=stop,
            stop_detail=": ".join(part for part in (word or "completed", refusal) if part),
            native=None if given_up else output,
        )
        return translation.mark_written_call(reply)

    def _take_calls(
        self, output: list[Json], translation: Translation, ids: CallIds
    ) -> tuple[ToolRequest, ...]:
        """Return the calls in ``output``, and repair items that the API would not accept back."""
        requests = []
        for item in output:
            if item.get("type") != "function_call":
                continue
            raw = item.get("arguments")
            arguments, malformed = parse_arguments(raw)
            # Changed in place: the item is sent back, and its result has to name the same id.
            item["call_id"] = ids.take(get_text(item, "call_id", "output[]."))
            # Several servers parse it when it comes back, and fail if it is no object.
            text = raw if isinstance(raw, str) and arguments else dump_arguments(arguments)
            item["arguments"] = text
            name = get_name(item, "output[].")
            item["name"] = self._translator.legal_name(name)
            tool, arguments = translation.translate_inward(name, arguments)
            requests.append(
                ToolRequest(id=item["call_id"], tool=tool, arguments=arguments, malformed=malformed)
            )
        return tuple(requests)


def _build_content(text: str, media: Sequence[Media]) -> str | list[Json]:
    if not media:
        return text
    parts: list[Json] = [{"type": "input_text", "text": text}] if text else []
    for one in media:
        url = build_data_url(one)
        parts.append(
            {"type": "input_image", "image_url": url, "detail": "auto"}
            if one.kind == "image"
            else {"type": "input_file", "filename": FILE_NAME, "file_data": url}
        )
    return parts


def _list_parts(message: Json) -> list[Json]:
    """Return the parts of a message of the assistant."""
    check_role(message, "output[].")
    return get_objects(message, "content", "output[].")


def _fixed_fields(spec: ModelSpec) -> Json:
    """Return the fields of every request of a model."""
    fields: Json = {"model": spec.model_id, "store": False, **build_sampling(spec)}
    if spec.max_tokens is not None:
        fields["max_output_tokens"] = spec.max_tokens
    return {**fields, "include": ["reasoning.encrypted_content"], **spec.body}


def _build_tools(offers: Sequence[Offer]) -> list[Json]:
    wire: list[Json] = []
    for offer in offers:
        described = {"description": offer.description} if offer.description else {}
        # Without `strict: false` OpenAI may narrow the schema; a server's schema must stay
        # unchanged.
        tool = {"type": "function", "name": offer.name, **described, "parameters": offer.schema}
        wire.append({**tool, "strict": False})
    return wire
