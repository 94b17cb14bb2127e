"""How a model is given what is no text of its own prompt, and what it is told in its place."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Collection, Sequence
from dataclasses import replace

from harness.runner.variants.defences import Marker, build_marker, join_reads
from harness.types import Media, MediaKind, Message, ToolCall, UserMessage, Variant, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultForm:
    """How a model is given the results of calls."""

    most_tokens: int | None = None
    """About how many tokens of their text; ``None``: all."""
    takes: Collection[MediaKind] = ()
    """What it is given beside text."""
    marker: Marker = Marker()
    """What marks their text as data."""


def choose_form(variant: Variant | None, takes: Collection[MediaKind], case: str) -> ResultForm:
    """Return how a model that ``takes`` this is given results of ``case`` under ``variant``."""
    if variant is None:
        return ResultForm(takes=takes)
    return ResultForm(
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


def give_reads(messages: Sequence[Message], marker: Marker) -> Sequence[Message]:
    """Return ``messages`` with the resources of each behind the user's words, as hosts send them.

    The record keeps both apart: what a server returned is nothing that the user said.
    """
    return [
        replace(
            message,
            text=join_reads(message.text, message, marker),
            media=message.all_media,
        )
        if isinstance(message, UserMessage) and message.reads
        else message
        for message in messages
    ]
