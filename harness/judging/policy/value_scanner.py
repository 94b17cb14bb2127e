"""Find withheld values in any place, under any name and in any encoding.

| place of the value                         | it is a leak if the value is                      |
|--------------------------------------------|---------------------------------------------------|
| plain in a successful result, any name     | unmistakable, and left out or masked elsewhere    |
| encoded, in an error, or outside of results| unmistakable, or a reference that no result shows |
| encoded, alone in a field of the same call | telling                                           |
| alone in a schema, a list, a description   | the full name of a record that is left out        |

`harness.judging.secrecy.values` defines these grades. It is no leak if the value belongs to the
identity itself (by the ids next to it), or to another record of the same kind, or if several
records share the text. A value that was only refused in one call may be public elsewhere, so it is
no leak there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

from harness.base import load_json
from harness.judging.matching.json_values import every_field
from harness.judging.policy.comparable_values import JsonRecord, same_kind, same_record
from harness.judging.policy.value_index import (
    ConvertedNumbers,
    ShownValues,
    are_similar_names,
    is_same_record_field,
)
from harness.judging.policy.views import Leaf, Result, View
from harness.judging.policy.withheld_values import WithheldValue
from harness.judging.secrecy import FoundValue, Page, SearchForm, ValueSearch, build_search_form
from harness.judging.secrecy.values import iterate_digests
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
    is_good = result.call.outcome == "ok"
    channel: Channel = "result" if is_good else "error"
    structured = SourcePage(channel, f"the structured {channel} of {{call}}")
    text = SourcePage(channel, "the text of {call}" if is_good else "the error text of {call}")
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
    for key in dict.fromkeys(field.name for field in every_field(value)):
        frame.add("a name of a field", key)


def _side_channel_frames(asides: Sequence[SideContent], when: str = "") -> Iterator[SourcePage]:
    for aside in asides:
        channel: Channel = "operator" if STDERR in aside.place else "beside"
        # The place is a format string, and a server's names may have braces.
        place = aside.place.replace("{", "{{").replace("}", "}}")
        frame = SourcePage(channel, f"{place}{when}")
        try:
            value = load_json(aside.text)
        except ValueError:
            value = aside.text
        for path, text in _iterate_scalars(value):
            frame.add(path, text)
        yield frame


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


_MOST_HASHED = 2_000
"""Maximum number of values whose digests are looked for."""
_NAME = re.compile(r"(?:^|_)name$|[a-z]Name$")


class Sighting(NamedTuple):
    """A withheld value, and where it was found."""

    secret: WithheldValue
    """The value."""
    place: str
    """Its place in words."""
    how: tuple[str, ...] = ()
    """The encodings that were decoded; empty for a plain value."""
    source: str = ""
    """The text that contains it, as it was sent."""
    is_note: bool = False
    """Whether it is only a possible problem and no leak: an operator's log, a rounded number."""


class _SecretGroup(NamedTuple):
    """A value that several tools may withhold."""

    form: SearchForm
    """Its form for the search."""
    secrets: tuple[WithheldValue, ...]
    """The withheld values, one for each tool and reach."""
    how: tuple[str, ...] = ()
    """How the searched text was made of the value; empty for the value itself."""


class ValueScanner:
    """Finds the values that are withheld from one identity in everything that it gets."""

    def __init__(self, secrets: Iterable[WithheldValue], shown: ShownValues) -> None:
        """Index ``secrets``; ``shown`` has the values in the identity's successful results."""
        secrets = tuple(secrets)
        self._shown = shown
        self.units = ConvertedNumbers(secrets)
        """The numbers among them, in other units."""
        kinds: dict[SearchForm, dict[tuple[str, str], WithheldValue]] = {}
        for secret in secrets:
            form = build_search_form(secret.leaf.value, secret.leaf.name)
            if form is not None:
                kinds.setdefault(form, {}).setdefault((secret.tool, secret.reach), secret)
        values = [(form, _SecretGroup(form, tuple(of.values()))) for form, of in kinds.items()]
        self._search = ValueSearch((*values, *_digest_values(values)))

    def list_unread(self) -> list[str]:
        """Return the places that were not searched completely, once each, in words."""
        words = list(self._search.cut)
        # One scanner serves all views of an identity: each view is told its own bounds.
        self._search.cut.clear()
        return words

    def scan(self, view: View, result: Result | None, call: str) -> Iterator[Sighting]:
        """Yield the withheld values in a call's answer, or without one what came before any call.

        ``call`` is the name of the call.
        """
        own = JsonRecord(view.attributes)
        offer = (_tools_frame(view.tools), *_side_channel_frames(view.beside))
        for frame in offer if result is None else build_call_frames(result):
            for plain in self._search.search_page(frame.page):
                # The digest comes last: it is the innermost form, made before it was encoded.
                found = plain._replace(how=(*plain.how, *plain.owner.how))
                secret = next(
                    (
                        secret
                        for secret in found.owner.secrets
                        if not _is_own_secret(own, secret)
                        and self._is_leak(secret, found, frame, result)
                    ),
                    None,
                )
                # One finding for a place, however many tools withhold the value.
                if secret is not None:
                    inside = f": {found.place}" if found.place else ""
                    place = f"{frame.place.format(call=call)}{inside}"
                    is_note = frame.channel == "operator"
                    yield Sighting(secret, place, found.how, found.source, is_note)

    def _is_leak(
        self,
        secret: WithheldValue,
        found: FoundValue[_SecretGroup],
        frame: SourcePage,
        result: Result | None,
    ) -> bool:
        form = found.owner.form
        same_call = result is not None and result.key in secret.keys
        if frame.channel == "operator" and secret.reach == "call":
            return False  # data that is only refused in this call may be logged
        plain = frame.channel == "result" and not found.how
        if form.strength == "telling" or (form.kind == "text" and secret.is_common):
            return found.whole and self._is_alone(secret, found, result)
        # What only one call refuses, other results may rightly have.
        if plain and secret.reach == "call":
            return same_call and not secret.is_given_at(found.place)
        # An id in a result is how one record refers to another.
        if plain and form.strength == "reference":
            return False
        if form.strength == "reference" or secret.reach == "call":
            return not self._shown.is_rightful(secret)
        leaf = None if found.how else frame.leaves[found.line]
        return leaf is None or result is None or not _is_other_record(secret, leaf, result)

    def _is_alone(
        self, secret: WithheldValue, found: FoundValue[_SecretGroup], result: Result | None
    ) -> bool:
        """Whether a value of grade ``telling`` is a leak because it stands alone."""
        if result is None:
            return _names_a_row(secret) and not found.how and not self._shown.is_rightful(secret)
        same_call = result.key in secret.keys and secret.reach == "field"
        return same_call and bool(found.how) and not secret.is_given_at(found.place)


def _digest_values(
    values: Sequence[tuple[SearchForm, _SecretGroup]],
) -> Iterator[tuple[SearchForm, _SecretGroup]]:
    """Yield the digests of the values that are withheld as fields, and not too common."""
    for form, value in values[:_MOST_HASHED]:
        kept = tuple(secret for secret in value.secrets if secret.reach == "field")
        if kept and form.strength != "telling" and form.kind != "text":
            for name, made in iterate_digests(kept[0].leaf.value):
                yield made, value._replace(secrets=kept, how=(f"its {name} digest",))


def _names_a_row(secret: WithheldValue) -> bool:
    """Whether a secret is the full name of a record that is missing from a list."""
    is_name = _NAME.search(secret.leaf.name) is not None and " " in secret.value.text
    return is_name and secret.reach == "call" and secret.kept == "left out"


def _is_other_record(secret: WithheldValue, leaf: Leaf, result: Result) -> bool:
    """Whether a field of a similar name belongs to another record of the same kind."""
    return (
        are_similar_names(leaf.name, secret.leaf.name)
        and is_same_record_field(leaf, result, secret) is False
        and same_kind(leaf.record, secret.leaf.record)
    )


def _is_own_secret(own: JsonRecord, secret: WithheldValue) -> bool:
    """Whether a secret belongs to the identity itself, by its attributes."""
    return any(
        same_record(own, record, except_for="")
        for record in (secret.leaf.record, secret.answered.requested_record)
    )
