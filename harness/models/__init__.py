"""Models: clients of LLM APIs, prices, the baseline without an LLM, and the text of tools.

What comes in: a `ModelSpec`, then a conversation and a tool list. What goes out: a `Reply` for each
request. Each provider has a file in `harness.models.providers`; other packages add theirs under the
entry-point group ``harness.models``.
"""

from harness.re_exports import re_export

__getattr__, __dir__ = re_export(__name__, __file__)
