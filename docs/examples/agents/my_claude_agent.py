"""With the Claude Agent SDK (``claude-agent-sdk``), which includes its own Claude Code."""

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, query


async def ask(prompt: str, mcp_url: str) -> dict:
    """Return the answer to ``prompt``, with the tools at ``mcp_url``."""
    options = ClaudeAgentOptions(
        mcp_servers={"shop": {"type": "http", "url": mcp_url}},
        allowed_tools=["mcp__shop__*"],
        tools=[],  # none of its own
    )
    answer, cost = "", None
    async for message in query(prompt=prompt, options=options):
        if isinstance(message, ResultMessage):
            answer, cost = message.result or "", message.total_cost_usd
    return {"answer": answer, "cost_usd": cost}
