"""Pages that are one file each: style, script and data are inside, and nothing is fetched.

Nothing that a suite, a model or a server said is ever part of the markup: it travels as compressed
JSON that no browser runs (`pack_blocks`), and the script shows it as text alone.
The page's own policy says so once more: no network, no other style or script than these (by their
digests), no markup made from strings.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from importlib.resources import files
from types import MappingProxyType
from typing import Any, TextIO, TypeAlias

from harness.base import KNOWN
from harness.types import dataclass

PACK = 400_000
"""Characters of JSON after which a pack ends: more would make the first look at a case slow."""
INDEX = "index"
"""The pack, written last, with the packs of each kind of block: ``[first number, pack]`` each."""


_NUMBERED = re.compile(r"(.*)-([0-9]+)", re.DOTALL)


def pack_blocks(blocks: Iterable[Block]) -> Iterator[str]:
    """Yield the elements with ``blocks``, pairs of name and JSON value; equal ones, equal bytes.

    A block is found by its name; those of one kind have rising numbers (``case-data-17``). Blocks
    that follow each other share a *pack*, which a page unpacks by itself (``DecompressionStream``)
    when it needs one of them, without a network and without markup. The first block has a pack of
    its own: a page shows it at once.
    """
    packs: dict[str, list[tuple[int, int]]] = {}
    last: dict[str, int] = {}
    waiting: list[str] = []
    number = size = 0
    for name, value in blocks:
        text = f"{json.dumps(name)}:{json.dumps(value, ensure_ascii=False, separators=(',', ':'))}"
        if waiting and (number == 0 or size + len(text) > PACK):
            yield _format_element(str(number), waiting)
            waiting, size, number = [], 0, number + 1
        waiting.append(text)
        size += len(text)
        found = _NUMBERED.fullmatch(name)
        kind, place = (found[1], int(found[2])) if found else (name, 0)
        assert place > last.get(kind, -1), name
        last[kind] = place
        of_kind = packs.setdefault(kind, [])
        if not of_kind or of_kind[-1][1] != number:
            of_kind.append((place, number))
    if waiting:
        yield _format_element(str(number), waiting)
    index = json.dumps(packs, separators=(",", ":"))
    yield _format_element(INDEX, [index.removeprefix("{").removesuffix("}")])


def _format_element(name: str, members: Iterable[str]) -> str:
    """Return a pack; the letters of base64 need no escape in a page."""
    # Nobody finds a secret in what is compressed. Half of a surrogate pair is in no UTF-8.
    text = KNOWN.redact_json_text(f"{{{','.join(members)}}}").encode("utf-8", "replace")
    # The best first; another level only serves to get other letters, where those look like a key by
    # chance: the output would redact it.
    packed = (base64.b64encode(zlib.compress(text, level)).decode() for level in range(9, -1, -1))
    data = next((data for data in packed if KNOWN.redact_text(data) == data), "")
    return f'<script type="text/plain" id="pack-{name}">{data}</script>\n'


Source: TypeAlias = tuple[str, str]
"""A file that is part of a page: the package that has it, and its name."""
Block: TypeAlias = tuple[str, Any]
"""A part of a page's data: its name, and a JSON value."""


# No slots: `cached_property` keeps its value among the attributes of the object.
@dataclass(frozen=True)
class SinglePage:
    """The parts of a page that are the same for all data."""

    markup: Source
    """HTML with ``{policy}``, ``{style}``, ``{data}`` and ``{script}``, in this order."""
    styles: tuple[Source, ...]
    """CSS, joined in order."""
    scripts: tuple[Source, ...]
    """JavaScript, joined in order; a module stands after those that it imports from."""

    @cached_property
    def style(self) -> str:
        """The whole style."""
        return "".join(map(_read_source, self.styles))

    @cached_property
    def script(self) -> str:
        """The whole script, as one: the names of modules are names of the page."""
        text = "".join(_IN_MODULES.sub("", _read_source(source)) for source in self.scripts)
        return _INDENTS.sub(" ", _COMMENTS.sub("", text))

    @cached_property
    def policy(self) -> str:
        """The page's Content-Security-Policy, for a web server to send as a header too."""
        return (
            f"default-src 'none'; style-src {_hash_source(self.style)}; script-src "
            f"{_hash_source(self.script)}; img-src data:; media-src data:; base-uri 'none'; "
            "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
        )

    def write(
        self,
        blocks: Iterable[Block],
        stream: TextIO,
        parts: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Write the page with ``blocks``, pairs of name and JSON value, one after the other.

        ``parts`` is markup, escaped already, for further names in braces before ``{data}``.
        """
        head, tail = _read_source(self.markup).split("{data}")
        head = head.replace("{style}", self.style).replace("{policy}", self.policy)
        # Last, since names of suites and models in it may have such braces themselves.
        for name, markup in parts.items():
            head = head.replace(f"{{{name}}}", markup)
        stream.write(head)
        stream.writelines(pack_blocks(blocks))
        stream.write(tail.replace("{script}", self.script))


def _read_source(source: Source) -> str:
    package, name = source
    return files(package).joinpath(name).read_text("utf-8")


_COMMENTS = re.compile(r"^ *(?://.*|/\*\*(?:[^*]|\*(?!/))*\*/)\n", re.MULTILINE)
"""Comments on lines of their own: nobody reads them in a page, and a large report has no room."""
_INDENTS = re.compile(r"^ +", re.MULTILINE)
_IN_MODULES = re.compile(
    r'^import \{[^}]*\} from "[^"]*";\n|^export (?=const |(?:async )?function|class )', re.MULTILINE
)


def _hash_source(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"
