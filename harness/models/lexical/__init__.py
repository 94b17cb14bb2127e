"""`lexical`, the embedded default model: a deterministic baseline that is *not* an LLM.

It needs no key and no network, and it sees what an LLM sees: the conversation and the tools' names,
descriptions and schemas. Their annotations, and the leave of the suite and the case, only hold back
calls (`harness.models.tool_text.permission`). A reply is a pure function of all this and of today's
date::

    prompt → requests → goals (tool + arguments) → calls still to be made, or an answer
    requests.py          goals.py: ranking.py, arguments.py     planning.py      answers.py
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import cached_property

import anyio.to_thread

from harness.models.lexical.answers import compose_answer, describe_unfillable, list_held_back
from harness.models.lexical.planning import plan_step
from harness.models.tool_text.permission import NO_LEAVE, Leave
from harness.models.tool_text.ranking import ToolIndex
from harness.types import AssistantMessage, Message, ModelSpec, Reply, Tool, ToolList, ToolRequest

_MOST_INDICES = 64  # tool lists whose indexes are kept; others are indexed again when needed
_LARGE = 300_000  # characters of a tool list; five times what harness lint calls a large one
_READ_CHARS = 20_000  # of a description; a longer one would delay others


def _get_today() -> date:
    return datetime.now(tz=UTC).date()


@dataclass(eq=False)
class _IndexedList:
    """A tool list in use, with its index."""

    tools: ToolList

    @cached_property
    def is_large(self) -> bool:
        """Whether indexing it takes so long that it would block other trials."""
        texts = ((tool.description or "", repr(tool.input_schema)) for tool in self.tools.tools)
        return sum(len(text) for both in texts for text in both) > _LARGE

    @cached_property
    def index(self) -> ToolIndex:
        """The index of the list's words."""
        return ToolIndex(replace(self.tools, tools=tuple(map(_clip_tool, self.tools.tools))))


def _clip_tool(tool: Tool) -> Tool:
    if len(tool.description or "") <= _READ_CHARS:
        return tool
    return replace(tool, description=(tool.description or "")[:_READ_CHARS])


class LexicalModel:
    """The built-in baseline; free, stateless, and the same on every machine.

    ``today`` gives the day that "last year" counts from; tests pin it.
    """

    def __init__(
        self, spec: ModelSpec, *, today: Callable[[], date] = _get_today, leave: Leave = NO_LEAVE
    ) -> None:
        """Only the id of ``spec`` matters; ``leave``: what it may call besides tools that read."""
        self._spec = spec
        self._id = spec.model_id
        self._now = today
        # The ToolList is stored with its index: while it is here, no other object can get
        # its id().
        self._lists: OrderedDict[int, _IndexedList] = OrderedDict()
        self._leave = leave

    def with_leave(self, leave: Leave) -> LexicalModel:
        """Return the model for a case in which ``leave`` allows tools that change something."""
        model = LexicalModel(self._spec, today=self._now, leave=leave)
        # The same indexes: they hold nothing of the leave, and take long to build.
        model._lists = self._lists
        return model

    async def answer(
        self, conversation: Sequence[Message], tools: ToolList, system: str | None
    ) -> Reply:
        """Return the calls still to be made, or the answer from their results."""
        known = self._get_indexed(tools)
        if known.is_large:  # one server's long texts must not delay other servers
            return await anyio.to_thread.run_sync(
                self._build_reply, conversation, known, abandon_on_cancel=True
            )
        return self._build_reply(conversation, known)

    def _build_reply(self, conversation: Sequence[Message], known: _IndexedList) -> Reply:
        # In each reply: joined servers put prefixes before the names that a suite allows.
        leave = self._leave.with_names_of(known.tools)
        step = plan_step(conversation, known.index, self._now(), leave)
        # From the conversation and not counted: equal conversations have to get equal ids.
        number = 1 + sum(isinstance(message, AssistantMessage) for message in conversation)
        requests = tuple(
            ToolRequest(id=f"lex_{number}_{place}", tool=call.tool, arguments=dict(call.arguments))
            for place, call in enumerate(step.calls, start=1)
        )
        held = list_held_back(step.outcomes)
        if requests:
            return Reply(
                tool_requests=requests, stop="tool_calls", served_by=self._id, held_back=held
            )
        return Reply(
            text=compose_answer(step.outcomes),
            stop="end",
            served_by=self._id,
            beyond=describe_unfillable(step.outcomes),
            held_back=held,
        )

    async def aclose(self) -> None:
        """Do nothing: the model holds no resources."""

    def _get_indexed(self, tools: ToolList) -> _IndexedList:
        known = self._lists.get(id(tools))
        if known is None:
            known = self._lists[id(tools)] = _IndexedList(tools)
            # The oldest one: tool lists come and go with the sessions of a run.
            while len(self._lists) > _MOST_INDICES:
                self._lists.popitem(last=False)
        return known
