"""A tool search that replaces a long tool list, as some clients do.

The loaded tools follow from the searches in the conversation alone: a new conversation begins with
only the search, and a repeated one loads the same tools.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.base import digest_json
from harness.models import ToolIndex, extract_terms, first_sentence
from harness.types import AssistantMessage, JsonObject, Message, Tool, ToolList, ToolSearch

_QUERY = "query"
_LONGEST = 1_000
"""Characters of a query that are read; a longer one would only take longer."""


class SearchedTools:
    """The tools of one list; a model sees those that it has found by searching."""

    def __init__(self, search: ToolSearch, tools: ToolList, always: Sequence[Tool] = ()) -> None:
        """``tools`` are all that can be found, with the model's names; ``always`` are shown."""
        self._search = search
        self._always = always
        self._all = tools
        self._index = ToolIndex(tools)
        self._lists: dict[tuple[str, ...], ToolList] = {}
        self.tool = Tool(
            name=search.name,
            description=self._describe_search(),
            input_schema={
                "type": "object",
                "properties": {
                    _QUERY: {
                        "type": "string",
                        "description": "What the tool should do, in a few words, or its name.",
                    }
                },
                "required": [_QUERY],
            },
        )

    def find_loaded(self, conversation: Sequence[Message]) -> tuple[str, ...]:
        """Return the names of the tools found by the searches of ``conversation``."""
        found = (
            tool.name
            for message in conversation
            if isinstance(message, AssistantMessage)
            for request in message.reply.tool_requests
            if request.search
            for tool in self._find_matches(request.arguments)
        )
        return tuple(dict.fromkeys(found))

    def list_offered(self, loaded: tuple[str, ...]) -> ToolList:
        """Return the tools offered to the model: the search, and the ``loaded`` ones."""
        if loaded not in self._lists:
            found = [tool for name in loaded if (tool := self._all.get(name)) is not None]
            self._lists[loaded] = ToolList(
                tools=(self.tool, *found, *self._always),
                problems=self._all.problems,
                digest=digest_json([self._all.digest, *loaded]),
            )
        return self._lists[loaded]

    def search(self, arguments: JsonObject) -> str:
        """Return the result of a search, as text for the model."""
        if not _get_query(arguments):
            return f"The search was empty: write in {_QUERY!r} what the tool should do."
        found = list(self._find_matches(arguments))
        if not found:
            return "No tool matches these words. Try others."
        lines = (f"- {tool.name}: {first_sentence(tool.description)}" for tool in found)
        return "\n".join(("These tools can be called from now on:", *lines))

    def _find_matches(self, arguments: JsonObject) -> Iterator[Tool]:
        """Yield the best matches, the best first."""
        ranked = self._index.rank_tools(extract_terms(_get_query(arguments)))
        for match in ranked[: self._search.results]:
            # Without a word in common it is no match, even if the list is not full.
            if match.score > 0:
                yield match.entry.tool

    def _describe_search(self) -> str:
        count = len(self._all.tools)
        words = (
            f"Find tools by what they do. {count:,} tools are not in your list. A search adds "
            f"those that match best, at most {self._search.results}, and they can be called from "
            "then on."
        )
        if not self._search.names:
            return words
        # As in Claude Code, whose search lists the names of all tools.
        return f"{words}\n\nTheir names: {', '.join(tool.name for tool in self._all.tools)}"


def _get_query(arguments: JsonObject) -> str:
    query = arguments.get(_QUERY)
    return query[:_LONGEST] if isinstance(query, str) and query.strip() else ""
