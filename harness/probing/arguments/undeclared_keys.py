"""Keys that no schema declares, and names under which a tool may also be known."""

from __future__ import annotations

from collections.abc import Iterator

from harness.probing.arguments.argument_change import ArgumentChange
from harness.types import JsonObject

FLAGS = (
    "include_all",
    "include_hidden",
    "include_deleted",
    "include_sensitive",
    "show_all",
    "all",
    "full",
    "raw",
    "unmask",
    "debug",
    "verbose",
)
"""Undeclared flags, which are all set in one call: in the arguments, and in ``_meta``."""
SELECTORS = {
    "fields": "*",
    "select": "*",
    "columns": "*",
    "include": "*",
    "expand": "*",
    "format": "raw",
    "view": "full",
    "mode": "raw",
    "detail": "full",
    "output": "full",
}
"""Undeclared arguments that may select more fields, which are all sent in one call."""
META_FLAGS = (*FLAGS, "trace", "internal", "admin", "dry_run", "bypass", "skip_policy", "no_filter")
"""The flags in ``_meta``."""
OLDER_NAMES = ("{}_v1", "{}_v0", "{}_v2", "{}_old", "old_{}", "legacy_{}", "{}_legacy")
FURTHER_NAMES = ("{}_internal", "_{}", "admin_{}", "{}_raw", "{}_full", "debug_{}", "{}_debug")
"""Names of other versions of a tool; ``{}`` stands for its own."""


def propose_undeclared_keys(schema: JsonObject, arguments: JsonObject) -> Iterator[ArgumentChange]:
    """Yield keys that neither the schema of a tool nor a call of it has."""
    declared = schema.get("properties") or {}
    unknown = {flag: True for flag in FLAGS if flag not in arguments}
    yield ArgumentChange(words="flags that the tool does not declare", changed=unknown)
    taken = arguments.keys() | declared.keys()
    chosen = {key: value for key, value in SELECTORS.items() if key not in taken}
    yield ArgumentChange(words="selections that the tool does not declare", changed=chosen)
    flags: JsonObject = dict.fromkeys(META_FLAGS, True)
    yield ArgumentChange(words="flags in _meta of the request", meta=flags, same=True)


def other_names(tool: str) -> Iterator[ArgumentChange]:
    """Yield names under which a tool may be reached past what holds for its own name."""
    # A dictionary, since two of these may be the same name.
    folded = {tool.swapcase(): None, tool.title(): None, f" {tool} ".rstrip(): None}
    for name in folded:
        yield ArgumentChange(words=f"under the name {name!r}", tool=name, same=True, is_risky=True)
    for pattern in (*OLDER_NAMES, *FURTHER_NAMES):
        name = pattern.format(tool)
        yield ArgumentChange(words=f"under the name {name!r}", tool=name, same=True, is_risky=True)
