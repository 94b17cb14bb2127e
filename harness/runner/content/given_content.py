"""How a model is given what is no text of its own prompt, and what it is told in its place."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from harness.models import get_taken_kinds, get_traits
from harness.runner.variants.defences import Marker, build_marker, join_reads
from harness.types import (
    LIST_RESOURCES,
    READ_RESOURCE,
    AssistantMessage,
    Media,
    MediaKind,
    Message,
    ModelSpec,
    Reply,
    ToolCall,
    UserMessage,
    Variant,
    dataclass,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultForm:
    """How a model is given the results of calls."""

    most_tokens: int | None = None
    """About how many tokens of their text; ``None``: all."""
    takes: Collection[MediaKind] = ()
    """What it is given beside text."""
    marker: Marker = Marker()
    """What marks their text as data."""
    host_tools: Collection[str] = ()
    """The tools of the host that it has."""
    as_recorded: bool = False
    """Whether messages are given as the log has them: to a recorded run, which is found by them."""


def choose_form(variant: Variant | None, model: ModelSpec, case: str) -> ResultForm:
    """Return how ``model`` is given results of ``case`` under ``variant``."""
    takes, as_recorded = get_taken_kinds(model), get_traits(model.provider).answers == "replies"
    if variant is None:
        return ResultForm(takes=takes, as_recorded=as_recorded)
    return ResultForm(
        as_recorded=as_recorded,
        host_tools=(LIST_RESOURCES, READ_RESOURCE) if variant.offer_resources else (),
        most_tokens=variant.max_result_tokens,
        takes=() if variant.text_only else takes,
        marker=build_marker(variant, case),
    )


def give_media(call: ToolCall, takes: Collection[MediaKind]) -> ToolCall:
    """Return ``call`` with what its model, which takes that, is given beside the text."""
    # No API takes pictures in a failed result, and a fault put its own text in place of all.
    if not call.media or call.told_as_error or call.injected is not None:
        return call
    media = tuple(replace(one, given=one.kind in takes) for one in call.media)
    return replace(call, media=media)


def attach_files(
    prompt: str, files: Sequence[Media], form: ResultForm
) -> tuple[str, tuple[Media, ...]]:
    """Return ``prompt`` with the texts and the descriptions of ``files``, and all the others."""
    parts, media = [prompt], []
    for file in files:
        if file.kind is None:  # a text: the suite's reader lets nothing else through
            text = b64decode(file.data).decode("utf-8", "replace")
            parts.append(f"[file {file.words}]\n{text}")
            continue
        given = file.kind in form.takes
        media.append(replace(file, given=given))
        if not given:
            parts.append(f"[file {file.words}; this model is not given it]")
    return "\n\n".join(parts), tuple(media)


def give_reads(messages: Sequence[Message], form: ResultForm) -> Sequence[Message]:
    """Return ``messages`` with what a server put beside the user's words, as hosts send it.

    A prompt comes before them, resources behind. The record keeps all apart: what a server returned
    is nothing that the user said.
    """
    if form.as_recorded:
        return messages
    return [one for message in messages for one in _iterate_given(message, form.marker)]


def _iterate_given(message: Message, marker: Marker) -> Iterator[Message]:
    if not isinstance(message, UserMessage):
        yield message
        return
    opening, words = message.opening, message.text
    if opening is not None:
        reads = iter(opening.reads)
        for said in opening.messages:
            copy = next(reads) if said.uri else None
            if said.role == "assistant":
                yield AssistantMessage(reply=Reply(text=said.text))
            elif copy is None:
                yield UserMessage(text=said.text, media=said.media)
            else:
                yield from _iterate_given(UserMessage(text="", reads=(copy,)), marker)
        message, words = replace(message, opening=None), "" if opening.alone else words
        if not (words or message.all_media or message.reads):
            return
    yield replace(message, text=join_reads(words, message, marker), media=message.all_media)
