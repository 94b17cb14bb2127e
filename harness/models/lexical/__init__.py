"""`lexical`, the embedded default model: a deterministic baseline that is *not* an LLM.

It needs no key and no network, and it sees exactly what an LLM sees: the conversation and the tools'
names, descriptions and schemas. A reply is a pure function of them and of today's date::

    prompt → requests → goals (tool + arguments) → calls still to be made, or an answer
    requests.py          goals.py: ranking.py, arguments.py     planning.py      answers.py
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime

from harness.models.lexical.answers import beyond, compose
from harness.models.lexical.planning import plan
from harness.models.lexical.ranking import Index
from harness.types import AssistantMessage, Message, ModelSpec, Reply, ToolList, ToolRequest

_MOST_INDICES = 64  # tool lists in use at the same time; more are read again when they come back


def _today() -> date:
    return datetime.now(tz=UTC).date()


class LexicalModel:
    """The built-in baseline; free, stateless, and the same on every machine.

    ``today`` gives the day that "last year" counts from; tests pin it.
    """

    def __init__(self, spec: ModelSpec, *, today: Callable[[], date] = _today) -> None:
        """Of ``spec`` only the id matters; there is nothing to configure."""
        self._id = spec.model_id
        self._now = today
        # A ToolList is kept beside its index, so that its identity stays its own while it is in here.
        self._indices: OrderedDict[int, tuple[ToolList, Index]] = OrderedDict()

    async def answer(self, conversation: Sequence[Message], tools: ToolList, system: str | None) -> Reply:
        """Return the calls still to be made, or the answer from those that were."""
        step = plan(conversation, self._index(tools), self._now())
        turn = 1 + sum(isinstance(message, AssistantMessage) for message in conversation)
        requests = tuple(
            ToolRequest(id=f"lex_{turn}_{place}", tool=call.tool, arguments=dict(call.arguments))
            for place, call in enumerate(step.calls, start=1)
        )
        if requests:
            return Reply(tool_requests=requests, stop="tool_calls", served_by=self._id)
        return Reply(text=compose(step.outcomes), stop="end", served_by=self._id, beyond=beyond(step.outcomes))

    async def aclose(self) -> None:
        """Hold nothing, give back nothing."""

    def _index(self, tools: ToolList) -> Index:
        known = self._indices.get(id(tools))
        if known is None:
            known = self._indices[id(tools)] = (tools, Index(tools))
            while len(self._indices) > _MOST_INDICES:
                self._indices.popitem(last=False)
        return known[1]
