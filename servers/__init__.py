"""The project's own MCP servers, one package each; start one with ``python -m servers.NAME``.

They import nothing of ``harness`` and talk to it over MCP like any other server. Their imports are
relative, because they are also shipped inside another package.
"""

import gc

# While the SDK loads, a hundred thousand objects come into being and none is garbage: looking for
# it again and again takes a sixth of a server's start.
gc.set_threshold(200_000)
