"""The project's own MCP servers, one package each; start one with ``python -m servers.NAME``.

They import nothing of ``harness`` and speak to it as any other server would: over MCP. Nor do they
name themselves by an absolute path, for they are shipped inside another package as well.
"""

import gc

# While the SDK loads, a hundred thousand objects come into being and none is garbage: looking for
# it again and again takes a sixth of a server's start.
gc.set_threshold(200_000)
