"""With Pydantic AI: ``pip install 'pydantic-ai-slim[mcp,openai]'``."""

from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset


async def ask(prompt: str, mcp_url: str) -> dict:
    """Return the answer to ``prompt``, with the tools at ``mcp_url``."""
    agent = Agent("openai:gpt-5.2", toolsets=[MCPToolset(mcp_url)])
    done = await agent.run(prompt)
    used = done.usage
    return {
        "answer": done.output,
        "input_tokens": used.input_tokens,
        "output_tokens": used.output_tokens,
    }
