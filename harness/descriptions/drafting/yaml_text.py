"""Writes comments, and data as YAML that the suites' reader reads back unchanged.

The reader's own rules (`harness.base.documents.fields`) decide which strings need quotation marks,
so that ``no``, ``1e5`` and ``2025-05-14`` are read back unchanged.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import yaml

from harness.base import HIDDEN, escape_character, escape_hidden, resolve_scalar

_WIDTH = 100
_LONG = 80  # characters of a text from which it is written below its key
_TAGS: dict[type, str] = {
    type(None): "tag:yaml.org,2002:null",
    bool: "tag:yaml.org,2002:bool",
    int: "tag:yaml.org,2002:int",
    float: "tag:yaml.org,2002:float",
    str: "tag:yaml.org,2002:str",
}
_UNPRINTABLE = re.compile(
    "[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
"""Line breaks and characters that the reader refuses; like invisible characters, they are written
as escapes."""


class _Dumper(yaml.SafeDumper):
    """Writes block style with lists indented below their keys, and no anchors."""

    def resolve(self, kind: Any, value: Any, implicit: Any) -> str:
        """Return the type that the reader gives to an unquoted ``value``."""
        if kind is not yaml.ScalarNode or not implicit[0]:
            return str(super().resolve(kind, value, implicit))  # type: ignore[no-untyped-call]  # PyYAML's
        # Without quotation marks it would be a merge key.
        if value == "<<":
            return "tag:yaml.org,2002:merge"
        try:
            return _TAGS[type(resolve_scalar(value))]
        # Any other tag than that of a string makes PyYAML write quotation marks.
        except ValueError:
            return "not JSON"

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: FBT001, FBT002  # PyYAML's
        """Indent lists as well."""
        # PyYAML writes a list at the column of its key unless told otherwise.
        super().increase_indent(flow, False)  # noqa: FBT003  # PyYAML's

    def ignore_aliases(self, data: Any) -> bool:
        """Write repeated values in full, without anchors."""
        return True


def _represent_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    is_prose = text == " ".join(text.split())  # a folded text is joined again with single spaces
    hidden = _UNPRINTABLE.search(text) or HIDDEN.search(text)
    style = '"' if hidden or "${" in text else ">" if is_prose and len(text) > _LONG else None
    return dumper.represent_scalar(_TAGS[str], text, style=style)


@dataclass(frozen=True, slots=True)
class Inline:
    """A list or mapping to write on one line: ``[a, b]``, ``{a: 1}``."""

    data: Any
    """The JSON value."""


def _represent_inline(dumper: _Dumper, inline: Inline) -> yaml.Node:
    node = dumper.represent_data(inline.data)
    if isinstance(node, yaml.CollectionNode):
        node.flow_style = True
    return node


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(Inline, _represent_inline)


def dump_yaml(data: Any) -> str:
    """Return ``data`` (JSON, parts of it `Inline`) as YAML, lines ending in a newline."""
    text = yaml.dump(
        data,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=_WIDTH,
        default_flow_style=False,
        indent=2,
    )
    return HIDDEN.sub(lambda found: escape_character(found[0]), str(text))  # these are quoted


def format_comment(text: str, *, indent: int = 0) -> str:
    """Return ``text`` as comment lines, whatever characters it has."""
    # Joined again, since a character that is left out leaves a space.
    visible = " ".join(_UNPRINTABLE.sub(" ", escape_hidden(" ".join(text.split()))).split())
    prefix = " " * indent + "# "
    return "".join(
        f"{line}\n"
        for line in textwrap.wrap(visible, _WIDTH, initial_indent=prefix, subsequent_indent=prefix)
    )


def comment_out(text: str) -> str:
    """Return lines of YAML as comments that are YAML again without their ``# ``."""
    # Empty lines as well, which textwrap leaves alone by default.
    return textwrap.indent(text, "# ", lambda _line: True)


def join_parts(parts: Iterable[str]) -> str:
    """Join parts of a file, an empty line between them."""
    return "\n".join(part for part in parts if part)
