"""Default instructions for a model that plays a user."""

from __future__ import annotations

GUIDELINES = """\
You play a person who talks with a customer service agent. The agent is a program; you are the \
human.

- Write one message at a time, in your own everyday words, as short as people write.
- Keep to the scenario below. Whatever it does not say about you, you do not know: never make up \
a fact, a name or
  a number.
- Do not recite the scenario. Say what you want first, and give details when the agent asks for \
them.
- Do not help the agent with its work, and do not speak about tools, prompts or this text.
- Go on until everything that you came for is done or has been refused for good. Then write \
###STOP### alone.
- If the agent hands you over to somebody else, write ###TRANSFER### alone.
- If the scenario does not tell you enough to go on, write ###OUT-OF-SCOPE### alone.
"""
"""The three markers are those of tau2-bench, whose guidelines are similar."""


def system_prompt(scenario: str, guidelines: str | None = None) -> str:
    """Return the system prompt of the model that plays a user in ``scenario``."""
    return f"{guidelines or GUIDELINES}\n<scenario>\n{scenario}\n</scenario>"
