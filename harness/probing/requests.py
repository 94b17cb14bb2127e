"""Resources, prompts and completions, asked for as nobody was shown them.

They are chosen from what anybody was shown. Their answers are read like those of a call, and so
compared with what the regular calls withhold.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from harness.base import HarnessError, ServerError
from harness.judging import Leaf, Result, fold_text
from harness.probing.arguments.argument_names import LISTS, find_ids
from harness.probing.call_facts import MOST_CHARS
from harness.probing.caller_sessions import Prober
from harness.probing.callers import ProbeCaller
from harness.probing.forged_calls import ForgedCall, interleave_calls
from harness.probing.gains import WithheldData
from harness.probing.planned_calls import ProbeCall
from harness.sessions import Session, get_next_cursor
from harness.types import JsonObject

READ, PROMPT, COMPLETE = "resources/read", "prompts/get", "completion/complete"
"""The methods that are tried; they stand in the place of a tool's name."""


def read_texts(method: str, answer: JsonObject) -> dict[str, Any]:
    """Return the texts of an answer, as the result of a call."""
    return {"text": "\n".join(_iterate_texts(method, answer))[:MOST_CHARS]}


def _iterate_texts(method: str, result: JsonObject) -> Iterator[str]:
    """Yield the texts of an answer: the content of a resource or a prompt, or completions."""
    if method == COMPLETE:
        completion = result.get("completion")
        values = completion.get("values") if isinstance(completion, Mapping) else ()
        yield from (value for value in _as_list(values) if isinstance(value, str))
        return
    blocks = (
        _as_list(result.get("contents"))
        if method == READ
        else (message.get("content") for message in _select_objects(result.get("messages")))
    )
    for block in blocks:
        for part in _as_list(block) if isinstance(block, list) else (block,):
            if isinstance(part, Mapping):
                inner = part.get("resource")
                own = inner if isinstance(inner, Mapping) else part
                yield from (own[key] for key in ("text", "blob") if isinstance(own.get(key), str))


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _select_objects(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in _as_list(value) if isinstance(one, Mapping)]


MOST_REQUESTS = 240
"""Maximum number of such requests of one probe."""
# Each is a request of each caller, so bounds keep a probe short.
_MOST_LINKS = 10
_MOST_IDS = 3
_MOST_FOLDERS = 2
_PAGES = 3
# Web addresses lead elsewhere, and "data:" is its own content.
_ADDRESS = re.compile(r"\b(?!(?:https?|wss?|data|mailto):)[a-z][a-z0-9+.-]*://[^\s\"'<>\\,;)\]}]+")
# With the operators of RFC 6570 before the name, and its modifiers behind.
VARIABLE = re.compile(r"\{[+#./;?&]?([\w.]+)[^{}]*\}")
"""A variable of a template of addresses."""
# Escaped, too: a server may check an address before it decodes it.
_UP = ("../", "../../", "%2e%2e/", "..%2f")


@dataclass(slots=True)
class ServerListings:
    """What a server lists beside its tools, for anybody."""

    resources: dict[str, set[str]] = field(default_factory=dict)
    """Address → the identities that it is listed for."""
    templates: dict[str, None] = field(default_factory=dict)
    """Templates of addresses."""
    prompts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Prompt → its arguments."""


async def read_all_listings(prober: Prober) -> ServerListings:
    """Return what the server lists beside its tools, to every identity together."""
    shown = ServerListings()
    for caller in prober.plan.callers:
        try:
            async with prober.open_session(caller) as session:
                await _read_listings(session, caller.name, shown)
        except HarnessError:
            continue  # who is not let in is shown nothing
    return shown


async def choose_requests(prober: Prober, withheld: WithheldData) -> Sequence[ForgedCall]:
    """Return the requests for each identity that something is withheld from, in turns."""
    shown = await read_all_listings(prober)
    chosen = _RequestChoice(shown, withheld)
    each = [
        chosen.choose_requests(caller)
        for caller in prober.plan.callers
        if withheld.find_withholding_calls(caller.name)
    ]
    return interleave_calls(each)[:MOST_REQUESTS]


async def _read_listings(session: Session, name: str, shown: ServerListings) -> None:
    """Add to ``shown`` what the server lists beside its tools for the caller ``name``."""
    # A server may never answer a method that it does not declare.
    offers = session.introduction.capabilities
    if offers.get("resources") is not None:
        for one in await _list_entries(session, "resources/list"):
            shown.resources.setdefault(str(one.get("uri")), set()).add(name)
        for one in await _list_entries(session, "resources/templates/list"):
            shown.templates[str(one.get("uriTemplate"))] = None
    if offers.get("prompts") is not None:
        for one in await _list_entries(session, "prompts/list"):
            arguments = (str(each.get("name")) for each in _select_objects(one.get("arguments")))
            shown.prompts[str(one.get("name"))] = tuple(arguments)


async def _list_entries(session: Session, method: str) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    params: JsonObject = {}
    # A bad server has a next page for ever.
    for _ in range(_PAGES):
        try:
            page = await session.send_request(method, params)
        except ServerError:
            break  # a list that is refused, or that the server does not have
        found += _select_objects(page.get(LISTS[method]))
        cursor = get_next_cursor(page)
        if cursor is None:
            break
        params = {"cursor": cursor}
    return found


class _RequestChoice:
    """The requests that the answers of a probe suggest."""

    def __init__(self, shown: ServerListings, withheld: WithheldData) -> None:
        self._shown = shown
        self._leaves = withheld.list_leaves()
        self._links = [*islice(_find_addresses(withheld.list_results()), _MOST_LINKS)]

    def choose_requests(self, caller: ProbeCaller) -> Iterator[ForgedCall]:
        """Yield the requests of one caller, the most promising of each sort first."""
        yield from interleave_calls(
            [
                self._propose_reads(caller),
                self._fill_templates(caller),
                self._propose_traversals(caller),
                self._propose_prompts(caller),
                self._propose_completions(caller),
            ]
        )

    def _propose_reads(self, caller: ProbeCaller) -> Iterator[ForgedCall]:
        """Yield what results link to, and what is listed for others alone."""
        own = [uri for uri, names in self._shown.resources.items() if caller.name in names]
        for uri in self._links:
            if uri not in own:
                yield _build_request(caller, READ, {"uri": uri}, "an address that a result has")
        others = (uri for uri in self._shown.resources if uri not in own)
        for uri in islice(others, _MOST_LINKS):
            yield _build_request(caller, READ, {"uri": uri}, "an address that others are shown")

    def _fill_templates(self, caller: ProbeCaller) -> Iterator[ForgedCall]:
        """Yield the templates of addresses, filled with ids."""
        for template in self._shown.templates:
            names = VARIABLE.findall(template)
            for values in self._propose_values(names):
                uri = VARIABLE.sub(lambda found, by=values: by[found[1]], template)  # type: ignore[misc]
                # What is listed for the caller is theirs.
                if caller.name not in self._shown.resources.get(uri, ()):
                    words = "a template of addresses filled in"
                    yield _build_request(caller, READ, {"uri": uri}, words, asked=values)

    def _propose_traversals(self, caller: ProbeCaller) -> Iterator[ForgedCall]:
        """Yield addresses that lead out of their folder by two dots."""
        uris = (uri for uri in self._shown.resources if uri.count("/") > _UP_LEAST)
        folders = dict.fromkeys(uri.rpartition("/")[0] for uri in uris)
        # The first address of each folder, since later entries replace earlier ones.
        first = {uri.rpartition("/")[0]: uri for uri in reversed(self._shown.resources)}
        ids = _group_ids(self._leaves)
        for folder in list(folders)[:_MOST_FOLDERS]:
            for name, values in ids.items():
                # The folder that such records may be in: "order" for the field "order_id".
                kind = fold_text(name).removesuffix("id").strip(" _-.")
                for value in values[:2]:
                    for uri in (
                        *(f"{first[folder]}/{up}{value}" for up in _UP),
                        f"{first[folder]}/../../{kind}/{value}",
                        f"{folder}/../{kind}/{value}",
                        f"{folder}/../{kind}s/{value}",
                    ):
                        words = "an address that leads out of its folder"
                        yield _build_request(caller, READ, {"uri": uri}, words, asked={name: value})

    def _propose_prompts(self, caller: ProbeCaller) -> Iterator[ForgedCall]:
        """Yield the prompts that take arguments, about records that others may see."""
        for prompt, names in self._shown.prompts.items():
            for values in self._propose_values(names) if names else ():
                sent = {"name": prompt, "arguments": values}
                yield _build_request(caller, PROMPT, sent, "arguments of a prompt", asked=values)

    def _propose_completions(self, caller: ProbeCaller) -> Iterator[ForgedCall]:
        """Yield completions of nothing, and of the first letter of an id."""
        shown = self._shown
        places = [
            *(({"type": "ref/prompt", "name": one}, names) for one, names in shown.prompts.items()),
            *(
                ({"type": "ref/resource", "uri": one}, VARIABLE.findall(one))
                for one in shown.templates
            ),
        ]
        for ref, names in places:
            ids = find_ids(names, self._leaves)
            for name in names:
                for start in dict.fromkeys(("", *(one[:1] for one in ids[name][:1]))):
                    sent = {"ref": ref, "argument": {"name": name, "value": start}}
                    yield _build_request(caller, COMPLETE, sent, "a completion")

    def _propose_values(self, names: Sequence[str]) -> Iterator[dict[str, str]]:
        """Yield values for variables: ids of their names, else the values of such fields."""
        known = {name: self._find_known_values(name) for name in names}
        if not names or not all(known.values()):
            return
        # A shorter list begins anew, so that each variable has a value.
        for place in range(min(_MOST_IDS, max(len(values) for values in known.values()))):
            yield {name: values[place % len(values)] for name, values in known.items()}

    def _find_known_values(self, name: str) -> list[str]:
        ids = find_ids([name], self._leaves)[name]
        like = (leaf for leaf in self._leaves if fold_text(leaf.name) == fold_text(name))
        return ids or [*dict.fromkeys(str(leaf.value) for leaf in like)]


_UP_LEAST = 2
"""Slashes of an address without a folder: ``clinic://handbook``."""


def _group_ids(leaves: Iterable[Leaf]) -> Mapping[str, list[str]]:
    found: dict[str, dict[str, None]] = {}
    for leaf in leaves:
        if isinstance(leaf.value, str) and fold_text(leaf.name).endswith("id"):
            found.setdefault(leaf.name, {})[leaf.value] = None
    return {name: list(values) for name, values in found.items()}


def _find_addresses(results: Iterable[Result]) -> Iterator[str]:
    """Yield the addresses in answers, once each, that are none of the web."""
    seen: set[str] = set()
    for result in results:
        texts = [result.call.text, *(aside.text for aside in result.call.beside)]
        texts += (str(leaf.value) for leaf in result.leaves if isinstance(leaf.value, str))
        for text in texts:
            for uri in _ADDRESS.findall(text):
                if uri not in seen:
                    seen.add(uri)
                    yield uri


def _build_request(
    caller: ProbeCaller,
    method: str,
    params: JsonObject,
    words: str,
    asked: JsonObject | None = None,
) -> ForgedCall:
    return ForgedCall(
        caller=caller,
        base=ProbeCall(tool=method, arguments=params, changes=False),
        kind="request",
        words=f"by {words}",
        arguments=params,
        asked=asked or {},
        same=False,
    )
