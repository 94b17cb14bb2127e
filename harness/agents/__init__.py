"""External agents as subjects, and the recording proxy through which they reach a server.

What comes in: an `AgentSpec`, a prompt, and the address of the proxy. What goes out: an
`AgentReply`; the proxy records the calls. Each kind has a file in `harness.agents.kinds`; other
packages add theirs under the entry-point group ``harness.agents``.
"""

from harness.re_exports import re_export

__getattr__, __dir__ = re_export(__name__, __file__)
