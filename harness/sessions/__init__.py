"""Sessions with MCP servers, run as real processes, and the record of every call to them.

What comes in: a `ServerSpec` and an identity. What goes out: a `Session` that a pool lends, and a
`ToolCall` for each call. All processes end with the pool.
"""

from harness.re_exports import re_export

__getattr__, __dir__ = re_export(__name__, __file__)
