"""The project's own MCP servers, one package each; start one with ``python -m servers.NAME``.

They import nothing of ``harness`` and speak to it as any other server would: over MCP. Nor do they
name themselves by an absolute path, for they are shipped inside another package as well.
"""
