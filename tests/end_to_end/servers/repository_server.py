"""A server of a repository that marks no tool: one shows the remotes, one pushes."""

from __future__ import annotations

from mcp.server import MCPServer

server = MCPServer("repository")


@server.tool()
def list_remotes() -> str:
    """List the remotes of the repository."""
    return "origin"


@server.tool()
def push_branch() -> str:
    """Push the branch to its remote."""
    return "pushed"


if __name__ == "__main__":
    server.run()
