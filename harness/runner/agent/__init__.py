"""The agent loop: one conversation between a user, a model and a session.

`Conversation` is the loop. A `Strategy` changes how a conversation goes, if a case needs more than
question and answer; the loop itself knows no strategy.
"""

from harness.runner.agent.conversation import Conversation, lost_in
from harness.runner.agent.interruption import Interrupted
from harness.runner.agent.strategy import Opening, Strategy
from harness.runner.agent.watched import Watched

__all__ = ["Conversation", "Interrupted", "Opening", "Strategy", "Watched", "lost_in"]
