"""A server's access policy tested without a model: every identity makes the same calls.

What comes in: a server with identities. What goes out: a run log of all calls, and the findings
that are derived from it.
"""

from harness.re_exports import re_export

__getattr__, __dir__ = re_export(__name__, __file__)
