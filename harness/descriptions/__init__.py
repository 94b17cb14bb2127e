"""Which words of a tool work: lint, drafts of suites, and the workbench.

What comes in: a server's tools, and suites for them. What goes out: findings, drafts, and measured
proposals for names, descriptions and schemas.
"""

from harness.re_exports import re_export

__getattr__, __dir__ = re_export(__name__, __file__)
