"""The agent loop: one conversation between a user, a model and a session.

`ModelConversation` is the loop. A `Strategy` changes how a conversation goes, if a case needs more
than question and answer; the loop itself knows no strategy.
"""

from harness.runner.agent.conversation import (
    ModelConversation,
    find_lost_reason,
)
from harness.runner.agent.interruption import InterruptedStrategy
from harness.runner.agent.strategy import Opening, Strategy

__all__ = [
    "InterruptedStrategy",
    "ModelConversation",
    "Opening",
    "Strategy",
    "find_lost_reason",
]
