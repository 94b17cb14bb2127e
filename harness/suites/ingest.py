"""What a model gets beside the questions: texts before them, files, resources of the server.

Each chunk of an ingested text has a conversation of its own, so the model can answer later
questions only if it stored the chunk on the server and looks it up there.
"""

from __future__ import annotations

import base64
import hashlib
import mimetypes
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from harness.base import (
    TEXT,
    DocumentReader,
    Field,
    InvalidValue,
    Steps,
    Values,
    any_of,
    array_of,
    build_field,
    describe_value,
    did_you_mean,
    lines_field,
    mapping_of,
    object_of,
    parse_entries,
    parse_items,
    parse_list,
    parse_mapping,
    parse_part,
    parse_single_line,
)
from harness.types import Limits, Media, PromptUse, Turn

Session: TypeAlias = tuple[str, ...]
"""The texts of one conversation, one for each message."""

CHUNK = "{chunk}"
"""Placeholder for the chunk in an ingest prompt."""

INGEST_PROMPT = (
    f"Remember what follows. You will be asked about it later, in another conversation.\n\n{CHUNK}"
)
"""The default prompt for a chunk."""

MAX_CHUNKS = 10_000
"""Most chunks of one case."""


def parse_sessions(value: Any) -> tuple[Session, ...]:
    """Return the texts of each conversation; each item of the value is a text or a list of texts.

    Raises:
        InvalidValue: the error has the path of the invalid part.
    """
    items = parse_list(value)
    if not items:
        meant = "Write a list of texts, or leave the key out."
        raise InvalidValue("there are no chunks", meant=meant)
    read = parse_items(_parse_session, items)
    # All texts together: each of them is a conversation that costs something.
    if sum(map(len, read)) > MAX_CHUNKS:
        message = f"there are {sum(map(len, read)):,} chunks; at most {MAX_CHUNKS:,} fit a test"
        raise InvalidValue(message)
    return read


def _parse_session(item: Any) -> Session:
    if not isinstance(item, list):
        return (parse_text(item, "this chunk"),)
    if not item:
        raise InvalidValue("this conversation has no chunks")
    return parse_items(partial(parse_text, noun="this chunk"), item)


def parse_text(item: Any, noun: str = "it") -> str:
    """Return a text that is not blank; ``noun`` is its name in the message.

    Raises:
        InvalidValue: it is blank, or no text.
    """
    if not isinstance(item, str):
        meant = "Quote it." if isinstance(item, int | float) else None
        raise InvalidValue(f"expected a text, found {describe_value(item)}", meant=meant)
    if not item.strip():
        raise InvalidValue(f"{noun} is empty")
    return item


def parse_template(value: Any, placeholder: str = CHUNK) -> str:
    """Return a prompt that contains the ``placeholder``.

    Raises:
        InvalidValue: it does not contain it, or is not a text.
    """
    if not isinstance(value, str):
        raise InvalidValue(f"expected a text, found {describe_value(value)}")
    if placeholder not in value:
        meant = f"Write {placeholder} where the text belongs."
        raise InvalidValue(f"it has no {placeholder}", meant=meant)
    return value


def build_ingest_turns(told: Sequence[Session], prompt: str = INGEST_PROMPT) -> tuple[Turn, ...]:
    """Return the turns for ``told``, with a new conversation for each session."""
    return tuple(
        Turn(prompt=prompt.replace(CHUNK, chunk), fresh=place == 0, ingest=True)
        for chunks in told
        for place, chunk in enumerate(chunks)
    )


LIMIT_KEYS = {
    **{key: key for key in ("max_replies", "max_calls", "max_tokens")},
    "timeout": "timeout_s",
    "max_cost": "max_cost_usd",
}
"""Key of a suite or a test → field of `Limits`."""


def apply_limits(values: Values, base: Limits) -> Limits:
    """Return ``base`` with the limits that ``values`` have."""
    return replace(base, **{name: values[key] for key, name in LIMIT_KEYS.items() if key in values})


def scale_limits(limits: Limits, turns: Sequence[Turn], given: Collection[str] = ()) -> Limits:
    """Return ``limits`` scaled to the number of turns, except those named in ``given``."""
    # What somebody has written holds for the whole trial, however many turns it has.
    scaled = [name for name in ("max_replies", "max_calls") if name not in given]
    return replace(limits, **{name: getattr(Limits(), name) * len(turns) for name in scaled})


INGEST = build_field(
    "Texts that the model gets before the questions under 'turns:', each in a "
    "conversation of its own; the texts of a nested list in one.",
    array_of(any_of(TEXT, array_of(TEXT, minItems=1)), minItems=1),
    parse_sessions,
)
"""``ingest`` of a test."""

INGEST_PROMPT_FIELD = build_field(
    "The prompt that tells the model a text of 'ingest:'; {chunk} stands for the text.",
    {"type": "string", "pattern": r"\{chunk\}", "default": INGEST_PROMPT},
    parse_template,
)
"""``ingest_prompt`` of a test."""


_BREAKS = ("\n\n", "\n", ". ", " ")
"""Where a text may be split, best first: between paragraphs, lines, sentences, words."""


def split_into_chunks(text: str, size: int) -> tuple[str, ...]:
    """Return ``text`` in chunks of at most ``size`` characters, without white space around them.

    A chunk ends at the last paragraph break in its second half, else at the last line, sentence or
    word break there. A longer word is split. Only white space is dropped.
    """
    pieces: list[str] = []
    begins = 0
    while begins < len(text):
        ends = _find_chunk_end(text, begins, size)
        if piece := text[begins:ends].strip():
            pieces.append(piece)
        begins = ends
    return tuple(pieces)


def _find_chunk_end(text: str, begins: int, size: int) -> int:
    if len(text) - begins <= size:
        return len(text)
    for mark in _BREAKS:
        found = text.rfind(mark, begins + size // 2, begins + size)
        if found > begins:
            return found + len(mark)
    return begins + size


MOST_BYTES = 3_000_000
"""Largest file: about what every API takes."""
_TEXT = ("text/plain", "text/csv", "text/markdown", "application/json")

ATTACH: Field = lines_field("Files that come with the first prompt, relative to the suite.")
"""``attach: [photo.png]``."""


def _parse_context(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        message = f"expected a list (lines that begin with '- '), found {describe_value(value)}"
        meant = "List URIs of resources. A user of 'contexts:' is named by 'user_context: …'."
        raise InvalidValue(message, meant=meant)
    return parse_items(parse_single_line, value)


CONTEXT: Field = build_field(
    "Resources of the server, by URI, that are read as this user and put into the first prompt.",
    array_of(TEXT),
    _parse_context,
)
"""``context: [hr://handbook]``."""

_USE_KEYS = ("name", "arguments")


def _parse_argument(value: Any) -> str:
    if not isinstance(value, str):
        message = f"expected text, found {describe_value(value)}"
        raise InvalidValue(message, meant="Put it into quotes: arguments of prompts are texts.")
    return value


def _parse_use_prompt(value: Any) -> PromptUse:
    if isinstance(value, str):
        return PromptUse(name=parse_single_line(value))
    given = parse_mapping(value)
    for key in given:
        if key not in _USE_KEYS:
            meant = did_you_mean(key, _USE_KEYS) or "Write '{name: …, arguments: {…}}'."
            raise InvalidValue("unknown key", path=(key,), meant=meant)
    if "name" not in given:
        raise InvalidValue("'name' is missing", meant="Name a prompt of the server.")
    return PromptUse(
        name=parse_part("name", parse_single_line, given["name"]),
        arguments=parse_part(
            "arguments", partial(parse_entries, _parse_argument), given.get("arguments") or {}
        ),
    )


USE_PROMPT: Field = build_field(
    "A prompt of the server, by name or with arguments, that begins the conversation.",
    any_of(TEXT, object_of({"name": TEXT, "arguments": mapping_of({"type": "string"})}, "name")),
    _parse_use_prompt,
)
"""``use_prompt: {name: review_leave, arguments: {employee: EMP_0031}}``."""

BESIDE_PROMPT = ("attach", "context", "use_prompt", "wordings", "ingest")
"""Keys for what a model gets beside or in place of the prompt."""


def find_server_content(test: Mapping[str, Any]) -> str | None:
    """Return the key by which ``test`` puts content of the server into the conversation, if any."""
    return next((key for key in ("context", "use_prompt") if test.get(key)), None)


def find_words(values: Values) -> str:
    """Return what the user says; without a prompt of their own, the server's prompt by its name."""
    said: str = values.get("prompt", str(values.get("use_prompt", "")))
    return said


def read_attachments(reading: DocumentReader, path: Steps, values: Values) -> Iterator[Media]:
    """Yield the files that the ``values`` of the test at ``path`` attach."""
    others = [key for key in ("turns", "user", "ingest") if values.get(key)]
    if others and values.get("attach"):
        message = f"'attach' goes with 'prompt', and not with {others[0]!r}."
        reading.add_key_problem((*path, "attach"), message)
        return
    for place, name in enumerate(values.get("attach", ())):
        at = (*path, "attach", place) if len(values["attach"]) > 1 else (*path, "attach")
        mime = mimetypes.guess_type(name)[0] or ""
        folder = Path(reading.document.file).parent
        # A suite of somebody else must not send other files of this machine to a model.
        if not (folder / name).resolve().is_relative_to(folder.resolve()):
            reading.add_problem(at, f"the file {name!r} is not in the suite's folder.")
            continue
        try:
            with (folder / name).open("rb") as file:
                content = file.read(MOST_BYTES + 1)
        except OSError as error:
            reading.add_problem(at, f"the file {name!r} cannot be read: {error.strerror}.")
            continue
        size = f"{len(content):,} bytes"
        media = Media(
            words=f"{name}, {mime}, {size}",
            mime=mime,
            data=base64.b64encode(content).decode(),
            sha256=hashlib.sha256(content).hexdigest(),
        )
        if len(content) > MOST_BYTES:
            reading.add_problem(at, f"the file {name!r} is larger than {MOST_BYTES:,} bytes.")
        elif mime not in _TEXT and media.kind is None:
            meant = "Attach a picture (PNG, JPEG, GIF, WebP), a PDF, a sound (WAV, MP3) or a text."
            reading.add_problem(
                at, f"no model takes {name!r}, which is {mime or 'unknown'}.", meant
            )
        else:
            yield media
