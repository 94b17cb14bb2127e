"""Translates tools into a provider's form, and the provider's calls back.

MCP allows names with dots and slashes, any property key and any schema; providers do not. A
`Translator` gives every tool a unique legal name and an accepted schema, remembers both directions,
and records lost information. The mapping of names is a bijection: a legal name stays unchanged, the
others get free names, in the server's order.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.base import Budget
from harness.models import provider_schemas
from harness.models.dialects.schema_rules import SchemaRefusal, append_description, beyond_limit
from harness.models.model import Dialect
from harness.models.provider_schemas import fit_schema, legal_name
from harness.models.written_calls import written_call
from harness.types import Reply, Tool, ToolList, ToolProblem, dataclass

STEPS = 200_000
STEPS_OF_A_TOOL = 2_000
"""Validation steps for a list of tools: a base, and further steps for each tool."""
KEPT = 64
"""Most tool lists whose translation is cached: about one for each user of a run."""
MOST_NAMES = 6
"""Most places in tools that one sentence names."""
_ILLEGAL = r"[^a-zA-Z0-9_-]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A tool in the provider's form."""

    tool: Tool
    """The server's tool."""
    name: str
    """Its name for the provider."""
    description: str
    """Its description, with information that the schema lost; may be empty."""
    schema: Mapping[str, Any]
    """Its schema for the provider; the server's own object if that is accepted."""
    keys: Mapping[str, str]
    """The server's property key → the provider's, if they differ."""
    refused: tuple[SchemaRefusal, ...] = ()
    """What the provider refuses inside the tool, which therefore stands in descriptions."""
    widened: tuple[str, ...] = ()
    """What its schema lost otherwise, in a sentence each."""


class Translation:
    """One tool list in one provider's form."""

    def __init__(
        self,
        offers: Sequence[Offer],
        problems: Sequence[ToolProblem],
        wire: list[dict[str, Any]],
        provider: str = "The provider",
    ) -> None:
        """``wire`` is the form of ``offers`` in a request, ``provider`` its reader's name."""
        self.offers = tuple(offers)
        self._to_say = describe_changes(offers, provider)
        self.problems = tuple(problems)
        """Changes and lost information; every tool is usable."""
        self.wire = wire
        self._by_name = {offer.name: offer for offer in offers}
        # Reversed: of two tools with one name, the first one stands for both on the way out.
        self._by_tool = {offer.tool.name: offer for offer in reversed(offers)}

    def say_once(self, reply: Reply) -> Reply:
        """Return ``reply``; the first one says what was left out of the tools for the provider."""
        # Taken before anything waits: of trials that run together, one alone says it.
        said, self._to_say = self._to_say, ()
        return replace(reply, adapted=(*said, *reply.adapted)) if said else reply

    def translate_inward(self, name: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return the provider's call in the server's names; an unknown name stays unchanged."""
        offer = self._by_name.get(name)
        if offer is None:
            return name, arguments
        inward = {new: old for old, new in offer.keys.items()}
        return offer.tool.name, _rename_keys(arguments, inward) if inward else arguments

    def translate_outward(
        self, tool: str, arguments: Mapping[str, Any]
    ) -> tuple[str, dict[str, Any]]:
        """Return the server's call in the provider's names; the inverse of `translate_inward`."""
        offer = self._by_tool.get(tool)
        if offer is None:
            return tool, dict(arguments)
        return offer.name, _rename_keys(arguments, offer.keys)

    def mark_written_call(self, reply: Reply) -> Reply:
        """Return ``reply``, marked if it writes a call of one of these tools as text."""
        # With real calls, text that looks like one is an explanation beside them.
        if reply.tool_requests or reply.stop in ("refusal", "malformed_call") or not self.offers:
            return reply
        offered = {offer.name: offer.tool.name for offer in self.offers}
        # A model may also write the server's own name, which it has read in a prompt or a result.
        offered |= {tool: tool for tool in offered.values() if tool not in offered}
        # An endpoint may take all of a reply for thinking, and the call with it.
        found = written_call(reply.text if reply.text.strip() else reply.thinking, offered)
        return reply if found is None else replace(reply, written_call=offered[found])


class Translator:
    """Translates tool lists for one provider, each once."""

    def __init__(
        self, dialect: Dialect, wire: Callable[[Sequence[Offer]], list[dict[str, Any]]]
    ) -> None:
        """``wire`` converts offers to the form of the provider's requests."""
        self._dialect = dialect
        self._wire = wire
        self._kept: OrderedDict[Hashable, Translation] = OrderedDict()

    def __call__(self, tools: ToolList) -> Translation:
        """Return the translation of ``tools``, cached while it is in use."""
        # Equal lists of different sessions are one; a list without a digest counts by identity.
        key: Hashable = tools.digest or tools
        if key in self._kept:
            self._kept.move_to_end(key)
        else:
            offers, problems = translate_tools(tools, self._dialect)
            self._kept[key] = Translation(
                offers, problems, self._wire(offers), self._dialect.provider
            )
            # The one asked for least recently: servers may list other tools in each session.
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return self._kept[key]

    def legal_name(self, name: str) -> str:
        """Return a legal name for a tool that was never offered."""
        return _legal_name(name, set(), self._dialect)


def translate_tools(tools: ToolList, dialect: Dialect) -> tuple[list[Offer], list[ToolProblem]]:
    """Return every tool in the form of ``dialect``, and the changes."""
    offers, problems = [], []
    # For the whole list: many slow schemas, each within its own bound, would add up to minutes.
    left = STEPS + STEPS_OF_A_TOOL * len(tools.tools)
    for tool, name in zip(tools.tools, _legal_names(tools, dialect), strict=True):
        budget = Budget(min(left, provider_schemas.STEPS))
        fitted = fit_schema(tool.input_schema, dialect, budget)
        left -= budget.steps - max(0, budget.left)
        said = filter(None, (tool.description.strip() or tool.title, *fitted.hints))
        description, rest = beyond_limit("\n".join(said), dialect.rules)
        refusals = fitted.refusals
        if rest:
            limit = f"description of more than {dialect.rules.longest_description:,} characters"
            refusals = [*refusals, SchemaRefusal(limit, "")]
        offers.append(
            Offer(
                tool=tool,
                name=name,
                description=description,
                schema=append_description(fitted.schema, rest) if rest else fitted.schema,
                keys=fitted.keys,
                refused=tuple(dict.fromkeys(refusals)),
                widened=tuple(fitted.problems),
            )
        )
        renamed = f"{dialect.provider} does not accept its name; it is offered as {name!r}"
        found = [] if name == tool.name else [renamed]
        found += [f"its argument {old!r} is offered as {new!r}" for old, new in fitted.keys.items()]
        problems += [
            ToolProblem(tool=tool.name, problem=text, usable=True)
            for text in (*found, *fitted.problems)
        ]
    return offers, problems


def describe_changes(offers: Sequence[Offer], provider: str) -> tuple[str, ...]:
    """Return a sentence for each thing that ``provider`` refuses, with the tools that have it."""
    widened: dict[str, list[str]] = {}
    for offer in offers:
        for change in offer.widened:
            widened.setdefault(change, []).append(offer.tool.name)
    tools = [(offer.tool.name, offer.name) for offer in offers if offer.name != offer.tool.name]
    keys = [
        (f"{old} of {offer.tool.name}", new) for offer in offers for old, new in offer.keys.items()
    ]
    renamed = [f"{old} is offered as {new}" for old, new in (*tools, *keys)]
    return (
        *(
            f"{provider} takes no {what}: it stands in descriptions instead "
            f"({describe_places(places)})"
            for what, places in group_by_refusal(offers).items()
        ),
        *(f"{change} ({_list_some(names)})" for change, names in widened.items()),
        *([f"{provider} does not accept every name: {_list_some(renamed)}"] if renamed else []),
    )


def _list_some(words: Sequence[str]) -> str:
    more = f" and {len(words) - MOST_NAMES} more" if len(words) > MOST_NAMES else ""
    return f"{', '.join(words[:MOST_NAMES])}{more}"


def group_by_refusal(offers: Sequence[Offer]) -> dict[str, list[tuple[str, str]]]:
    """Return what is refused → the tools that have it, each with the place in its schema."""
    places: dict[str, list[tuple[str, str]]] = {}
    for offer in offers:
        for refusal in offer.refused:
            places.setdefault(refusal.what, []).append((offer.tool.name, refusal.place))
    return places


def describe_places(places: Sequence[tuple[str, str]]) -> str:
    """Return places in tools for a sentence."""
    return _list_some([f"{tool} at {place}" if place else tool for tool, place in places])


def _legal_names(tools: ToolList, dialect: Dialect) -> list[str]:
    """Return a name for each tool: its own if legal and free, else another free one."""
    # Legal names first, so that no name that is made up takes one from its owner.
    unclaimed = {
        tool.name for tool in tools.tools if _legal_name(tool.name, set(), dialect) == tool.name
    }
    taken = set(unclaimed)
    names: list[str] = []
    for tool in tools.tools:
        name = tool.name
        if name in unclaimed:
            # Claimed once: a second tool of this name gets another one.
            unclaimed.discard(name)
        else:
            name = _legal_name(name, taken, dialect)
            taken.add(name)
        names.append(name)
    return names


def _legal_name(name: str, taken: set[str], dialect: Dialect) -> str:
    return legal_name(
        name,
        taken,
        longest=dialect.longest_name,
        illegal=_ILLEGAL,
        otherwise="tool",
        letter_first=dialect.letter_first,
    )


def _rename_keys(arguments: Mapping[str, Any], keys: Mapping[str, str]) -> dict[str, Any]:
    return {keys.get(key, key): value for key, value in arguments.items()}
