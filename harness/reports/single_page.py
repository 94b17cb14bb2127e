"""Pages that are one file each: style, script and data are inside, and nothing is fetched.

Nothing that a suite, a model or a server said is ever part of the markup: it travels as compressed
JSON that no browser runs (`harness.reports.packed_blocks`), and the script shows it as text alone.
The page's own policy says so once more: no network, no other style or script than these (by their
digests), no markup made from strings.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from types import MappingProxyType
from typing import Any, TextIO, TypeAlias

from harness.reports.packed_blocks import pack_blocks

Source: TypeAlias = tuple[str, str]
"""A file that is part of a page: the package that has it, and its name."""


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
        return "".join(_IN_MODULES.sub("", _read_source(source)) for source in self.scripts)

    @cached_property
    def policy(self) -> str:
        """The page's Content-Security-Policy, for a web server to send as a header too."""
        return (
            f"default-src 'none'; style-src {_hash_source(self.style)}; script-src "
            f"{_hash_source(self.script)}; base-uri 'none'; form-action 'none'; "
            "require-trusted-types-for 'script'; trusted-types 'none'"
        )

    def write(
        self,
        blocks: Iterable[tuple[str, Any]],
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


_IN_MODULES = re.compile(
    r'^import \{[^}]*\} from "[^"]*";\n|^export (?=const |(?:async )?function|class )', re.MULTILINE
)


def _hash_source(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"
