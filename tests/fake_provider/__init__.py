"""A fake LLM provider on the wire.

Real HTTP on loopback, as strict about requests as the real APIs. The same script answers whole
or, where a request asks for it, as a stream of events.

::

    with FakeProvider([call("get_order", {"id": 7}), say("It is on its way.")]) as provider:
        ...  # base URL: provider.url (Anthropic), provider.url + "/v1" (OpenAI); key: "test-key"
        assert [request.turn for request in provider.journal] == [0, 1]

As a process, for benchmarks: ``python -m tests.fake_provider --latency-ms 200 --script agent``.
"""

from tests.fake_provider.incoming import Conversation, Incoming, OfferedTool, ToolResult
from tests.fake_provider.server import FakeProvider
from tests.fake_provider.steps import (
    Script,
    Step,
    bad_arguments,
    by_prompt,
    call,
    calls,
    cut,
    empty,
    held,
    malformed,
    pause,
    raw,
    refuse,
    reset,
    say,
    sequence,
    served_by,
    slow,
    stall,
    status,
    think,
    usage,
)

__all__ = [
    "Conversation",
    "FakeProvider",
    "Incoming",
    "OfferedTool",
    "Script",
    "Step",
    "ToolResult",
    "bad_arguments",
    "by_prompt",
    "call",
    "calls",
    "cut",
    "empty",
    "held",
    "malformed",
    "pause",
    "raw",
    "refuse",
    "reset",
    "say",
    "sequence",
    "served_by",
    "slow",
    "stall",
    "status",
    "think",
    "usage",
]
