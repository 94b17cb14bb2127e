"""Reads one YAML file as plain data, with the line and column of every part.

The result has JSON's types only: mappings with text keys, lists, text, numbers, booleans and null.
All other features of YAML (tags, several documents, other keys, numbers that are not finite) are
problems with a place. Size, depth and the copies of aliases are bounded. The tree is built from the
parser's events, so nesting cannot exhaust the stack, and no tag can construct an object.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import yaml

from harness.base.documents.fields import resolve_scalar
from harness.base.documents.files import format_path, read_bytes
from harness.base.documents.syntax import explain_syntax_error
from harness.base.errors import InvalidInput, Problem
from harness.types import Location

Steps: TypeAlias = tuple[str | int, ...]
"""The steps from the whole document to a part of it: ``("tests", 0, "prompt")``."""

MAX_BYTES = 5_000_000
"""Largest file: ten thousand cases fit easily, so a larger file is a mistake."""
MAX_DEPTH = 100
"""Most levels: more than a tool's argument has, and far below the interpreter's recursion limit."""
MAX_COPIED = 1_000_000
"""Most values and characters that all aliases together may copy, because nested aliases
multiply."""

# The parser in C is many times as fast, but not in every build of PyYAML.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TEXT_TAG = "tag:yaml.org,2002:str"
# Characters that YAML forbids, and three that only YAML 1.1 treats as line ends.
_FORBIDDEN = re.compile(
    "[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_REFERENCE = re.compile(r"\$\{(?:[A-Za-z_]\w*(?::-[^{}\n]*)?|\{[ \t]*[A-Za-z_]\w*[ \t]*\})\}")
_BRACES = {0xFDD0: "{", 0xFDD1: "}"}
_ASIDE = {ord(brace): mark for mark, brace in _BRACES.items()}
# Braces of ${NAME} and ${{ name }} are replaced while YAML is parsed: inside {…} they would be
# mappings.

_NOTHING: Mapping[str | int, Any] = MappingProxyType({})

_Place: TypeAlias = tuple[int, int]
"""Line and column, both from 1."""


class _Node(NamedTuple):
    """A value, its location, and its parts; a tuple, since a large suite has a million of them."""

    value: Any
    place: _Place
    weight: int = 1
    """Its values and characters of text; an alias counts as often as it is used."""
    height: int = 0
    """Levels below it, including those of aliases."""
    keys: Mapping[str | int, _Place] = _NOTHING
    parts: Mapping[str | int, _Node] = _NOTHING


class Document:
    """A file's content as plain data, with the location of each part."""

    def __init__(
        self, *, file: str, digest: str, root: _Node, problems: tuple[Problem, ...]
    ) -> None:
        """Made by `read_document`."""
        self.file = file
        """The file's path as the user would type it."""
        self.digest = digest
        """SHA-256 of the file's bytes."""
        self.value: Any = root.value
        """The content; ``None`` if the file is empty. Read-only: aliases share their parts."""
        self.problems = problems
        """Problems of the YAML itself, except syntax errors."""
        self._root = root

    def locate(self, path: Steps) -> Location:
        """Return the location of the value at ``path``, or of the nearest existing parent.

        A value that begins below its key, or is missing, gets the key's location.
        """
        node, place = self._root, self._root.place
        for step in path:
            if step not in node.parts:
                break
            key = node.keys.get(step)
            node = node.parts[step]
            elsewhere = node.value is None or (key is not None and key[0] < node.place[0])
            place = key if key is not None and elsewhere else node.place
        return self._to_location(place)

    def locate_key(self, path: Steps) -> Location:
        """Return the location of the last key of ``path``, or of the nearest existing parent."""
        node = self._root
        for step in path[:-1]:
            if step not in node.parts:
                break
            node = node.parts[step]
        key = node.keys.get(path[-1]) if path else None
        return self.locate(path) if key is None else self._to_location(key)

    def _to_location(self, place: _Place) -> Location:
        return Location(file=self.file, line=place[0], column=place[1])


def build_code_document(at: Location) -> Document:
    """Return a document for a program's data, with the location ``at`` for every part."""
    root = _Node(None, (at.line or 1, at.column or 1))
    return Document(file=at.file, digest="", root=root, problems=())


def read_document(path: Path, prepare: Callable[[str], str] = str) -> Document:
    """Read the YAML file at ``path``; ``prepare`` may change its text without moving lines.

    Raises:
        InvalidInput: it cannot be read, is too large, is not UTF-8, has a syntax error, or nests or
        copies too much. Lesser problems are kept in `Document.problems`.
    """
    file = format_path(path)
    raw = read_bytes(path, max_bytes=MAX_BYTES, split_into="suites")
    return parse_document(prepare(_decode(raw, file)), file, hashlib.sha256(raw).hexdigest())


def parse_document(text: str, file: str, digest: str = "") -> Document:
    """Return the YAML ``text`` as a document; ``file`` is its file in messages.

    Raises:
        InvalidInput: as `read_document`.
    """
    builder = _Builder(file)
    try:
        root = builder.build(yaml.parse(_put_aside(text), Loader=_LOADER))
    except yaml.YAMLError as error:
        raise InvalidInput([explain_syntax_error(error, text, file)]) from error
    problems = tuple(dict.fromkeys(builder.problems))
    return Document(file=file, digest=digest, root=root, problems=problems)


def _decode(raw: bytes, file: str) -> str:
    raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        before, meant = raw[: error.start].decode("utf-8"), "Save it with the encoding UTF-8."
        message = "the file is not UTF-8 text."
        raise _build_character_error(file, before, message, meant) from error
    if bad := _FORBIDDEN.search(text):
        number = f"{ord(bad.group()):04X}"
        message = f"the character U+{number} is not allowed in a YAML file."
        meant = f"Remove it, or write it within double quotes as \\u{number}."
        raise _build_character_error(file, text[: bad.start()], message, meant)
    return text


def _put_aside(text: str) -> str:
    return _REFERENCE.sub(lambda found: found.group().translate(_ASIDE), text)


def _build_character_error(file: str, before: str, message: str, meant: str) -> InvalidInput:
    """Raise an error for the character after ``before``."""
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    at = Location(file=file, line=line, column=column)
    return InvalidInput([Problem(at=at, message=message, meant=meant)])


class _Builder:
    """Builds the tree of one document from the parser's events, and collects problems."""

    def __init__(self, file: str) -> None:
        self.problems: list[Problem] = []
        self._file = file
        self._events: Iterator[Any] = iter(())
        self._anchors: dict[str, _Node] = {}
        self._copied = 0

    def build(self, events: Iterator[Any]) -> _Node:
        """Return the root; an empty file has an empty root."""
        self._events = events
        root = None
        for event in events:
            if not isinstance(event, yaml.DocumentStartEvent):
                continue
            if root is not None:
                message = "a second document begins in the file."
                self._add_problem(event, message, "Give each suite a file of its own.")
                break
            root = self._build_node(next(events), 0)
        return root or _Node(value=None, place=(1, 1))

    def _build_node(self, event: Any, depth: int) -> _Node:
        if depth > MAX_DEPTH:
            raise self._build_error(event, f"nested deeper than {MAX_DEPTH} levels.")
        if isinstance(event, yaml.AliasEvent):
            return self._resolve_alias(event, depth)
        # `!!str` at a word is harmless: it asks for the text that stands there.
        harmless = event.tag == _TEXT_TAG and isinstance(event, yaml.ScalarEvent)
        if event.tag is not None and not harmless:
            advice = "Remove it; quote a text that begins with '!'."
            self._add_problem(event, "a tag (!…) is not allowed.", advice)
        if isinstance(event, yaml.ScalarEvent):
            node = self._build_scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            node = self._build_sequence(event, depth)
        else:
            node = self._build_mapping(event, depth)
        if event.anchor is not None:
            # Known only when it ends, so an alias cannot refer to what it stands in.
            self._anchors[event.anchor] = node
        return node

    def _resolve_alias(self, event: Any, depth: int) -> _Node:
        target = self._anchors.get(event.anchor)
        if target is None:
            message = "an alias (*…) refers to nothing that ends above it."
            self._add_problem(event, message, "Quote a text that begins with '*'.")
            return _Node(value=None, place=_get_place(event))
        # Counted and not copied: a few nested aliases stand for billions of values.
        self._copied += target.weight
        if self._copied > MAX_COPIED:
            raise self._build_error(event, "the aliases (*name) of this file repeat too much.")
        # An alias brings its own levels to a place that may be deep already.
        if depth + target.height > MAX_DEPTH:
            raise self._build_error(event, f"nested deeper than {MAX_DEPTH} levels.")
        return target._replace(place=_get_place(event))

    def _build_scalar(self, event: Any) -> _Node:
        value = event.value.translate(_BRACES)
        if _SURROGATE.search(value):
            self._add_problem(
                event,
                "an escape in this text is half of a character.",
                "Write the character itself.",
            )
            value = ""
        elif event.implicit[0]:
            try:
                value = resolve_scalar(value)
            except ValueError as error:
                self._add_problem(event, f"{error}.", "Quote it if it is text.")
        return _Node(value=value, place=_get_place(event), weight=1 + len(event.value))

    def _build_sequence(self, start: Any, depth: int) -> _Node:
        parts: list[_Node] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            parts.append(self._build_node(event, depth + 1))
        return _Node(
            value=[part.value for part in parts],
            place=_get_place(start),
            weight=1 + sum(part.weight for part in parts),
            height=_measure_height(parts),
            parts=dict(enumerate(parts)),
        )

    def _build_mapping(self, start: Any, depth: int) -> _Node:
        keys: dict[str | int, _Place] = {}
        parts: dict[str | int, _Node] = {}
        merged: list[_Node] = []
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._build_node(event, depth + 1)
            part = self._build_node(next(self._events), depth + 1)
            # Quoted, it is a key like any other.
            if key.value == "<<" and event.implicit[0]:
                merged.extend(self._merge_mappings(event, part))
            elif self._is_new_key(event, key, keys):
                keys[key.value], parts[key.value] = key.place, part
        for source in merged:
            # The mapping's own keys count more than merged ones, as YAML says.
            keys = {**source.keys, **keys}
            parts = {**source.parts, **parts}
        return _Node(
            value={name: part.value for name, part in parts.items()},
            place=_get_place(start),
            weight=1 + sum(part.weight + len(str(name)) for name, part in parts.items()),
            height=_measure_height(parts.values()),
            keys=keys,
            parts=parts,
        )

    def _merge_mappings(self, event: Any, part: _Node) -> list[_Node]:
        """Return the mappings that ``<<:`` adds; for each key, the first one with it decides."""
        sources = list(part.parts.values()) if isinstance(part.value, list) else [part]
        if all(isinstance(source.value, dict) for source in sources):
            return sources
        message = "'<<' takes a mapping, or a list of mappings."
        self._add_problem(event, message, 'If it is a plain key, quote it: "<<".')
        return []

    def _is_new_key(self, event: Any, key: _Node, keys: Mapping[str | int, _Place]) -> bool:
        if not isinstance(key.value, str):
            word = getattr(event, "value", "")
            advice = f'Quote it: "{word}".' if word else "Write it as 'key: value'."
            self._add_problem(event, "a key must be text.", advice)
            return False
        if key.value in keys:
            first = keys[key.value][0]
            message = f"the key {key.value!r} is given twice; first at line {first}."
            self._add_problem(event, message, "Remove one of them.")
            return False
        return True

    def _add_problem(self, event: Any, message: str, meant: str) -> None:
        self.problems.append(self._make_problem(event, message, meant))

    def _build_error(self, event: Any, message: str) -> InvalidInput:
        return InvalidInput([self._make_problem(event, message)])

    def _make_problem(self, event: Any, message: str, meant: str | None = None) -> Problem:
        line, column = _get_place(event)
        at = Location(file=self._file, line=line, column=column)
        return Problem(at=at, message=message, meant=meant)


def _measure_height(parts: Iterable[_Node]) -> int:
    return 1 + max((part.height for part in parts), default=0)


def _get_place(event: Any) -> _Place:
    return event.start_mark.line + 1, event.start_mark.column + 1
