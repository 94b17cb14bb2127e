"""Everything that an identity got, as pages of lines that can be searched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from harness.base import load_json
from harness.judging.policy.views import Leaf, Result, View
from harness.judging.secrecy import Page
from harness.types import STDERR, SideContent, ToolList

Channel: TypeAlias = Literal["result", "error", "beside", "operator"]
"""``result``: a successful result. ``error``: the text of a failed call. ``beside``: everything
else that an identity gets. ``operator``: output that only the server's operator gets."""


class SourcePage:
    """A page with its source."""

    def __init__(self, channel: Channel, place: str) -> None:
        """Start a page; ``{call}`` in ``place`` stands for the name of the call."""
        self.channel = channel
        """The kind of source."""
        self.place = place
        """The source in words."""
        self.page = Page(name=place.replace("{call}", "a call"))
        """Its lines."""
        self.leaves: list[Leaf | None] = []
        """The field of each line, if it is the value of one."""

    def add(self, place: str, text: str, leaf: Leaf | None = None) -> None:
        """Add the text at ``place``."""
        self.page.add(place, text)
        # A text may have several lines, and each needs its field.
        self.leaves += [leaf] * (len(self.page.lines) - len(self.leaves))


def build_call_frames(result: Result) -> Iterator[SourcePage]:
    """Yield the pages of one call: its structured result, its text if different, and the rest."""
    channel: Channel = "result" if result.call.outcome == "ok" else "error"
    form = "result" if channel == "result" else "error"
    structured = SourcePage(channel, f"the structured {form} of {{call}}")
    text = SourcePage(
        channel, "the text of {call}" if form == "result" else "the error text of {call}"
    )
    for leaf in result.leaves:
        own = structured if leaf.channel == "structured" else text
        # Lines of prose are added whole below, and not once more as fields.
        if own is structured or not result.is_prose:
            own.add(leaf.path or leaf.name, str(leaf.value), leaf)
    _add_keys(structured, result.call.structured)
    if result.is_prose:
        text.add("", result.call.text)
    else:
        _add_keys(text, result.text_json)
    yield structured
    # Servers often repeat the structured result as text: it is searched once.
    if text.page.lines != structured.page.lines:
        yield text
    yield from _side_channel_frames(result.call.beside, ", with {call}")


def _add_keys(frame: SourcePage, value: Any) -> None:
    for key in _collect_keys(value):
        frame.add("a name of a field", key)


def _collect_keys(value: Any) -> Sequence[str]:
    """Return the distinct names of all fields."""
    found: dict[str, None] = {}
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            found.update(dict.fromkeys(map(str, part)))
            waiting.extend(part.values())
        elif isinstance(part, list | tuple):
            waiting.extend(part)
    return list(found)


def build_offer_frames(view: View) -> Iterator[SourcePage]:
    """Yield the pages of what an identity got before any call, tools first."""
    yield _tools_frame(view.tools)
    yield from _side_channel_frames(view.beside)


def _side_channel_frames(asides: Sequence[SideContent], when: str = "") -> Iterator[SourcePage]:
    for aside in asides:
        channel: Channel = "operator" if STDERR in aside.place else "beside"
        frame = SourcePage(channel, f"{_escape_braces(aside.place)}{when}")
        try:
            value = load_json(aside.text)
        except ValueError:
            value = aside.text
        for path, text in _iterate_scalars(value):
            frame.add(path, text)
        yield frame


def _escape_braces(place: str) -> str:
    # The place is a format string, and a server's names may have braces.
    return place.replace("{", "{{").replace("}", "}}")


# Cached, since many trials are shown the same list.
@lru_cache(maxsize=64)
def _tools_frame(tools: ToolList) -> SourcePage:
    frame = SourcePage("beside", "the list of tools")
    for tool in tools.tools:
        frame.add(f"the title of {tool.name}", tool.title or "")
        frame.add(f"the description of {tool.name}", tool.description)
        for schema, name in (
            (tool.input_schema, "inputSchema"),
            (tool.output_schema, "outputSchema"),
        ):
            for path, text in _iterate_scalars(schema):
                frame.add(f"the {name} of {tool.name}: {path}", text)
    return frame


def _iterate_scalars(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of every scalar and every key."""
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        path, part = waiting.pop()
        if isinstance(part, Mapping):
            inside = [(f"{path}.{key}" if path else str(key), each) for key, each in part.items()]
            # A stack gives what was put on it last: reversed, fields keep their order.
            waiting.extend(reversed(inside))
            yield from ((path, str(key)) for key in part)
        elif isinstance(part, list | tuple):
            waiting.extend((f"{path}[]", each) for each in reversed(part))
        elif part is not None:
            yield path, str(part)
