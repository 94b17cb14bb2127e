"""One search for withheld values, in everything that an identity gets, however it is encoded.

`values` says which values cannot be met by chance, `normal` brings texts into the form in which
they are compared, `decoders` undoes encodings, and `search` finds values in texts, up to two
encodings deep. Nothing here knows who may see what: `harness.judging.policy` decides that.
"""

from __future__ import annotations

from harness.secrecy.search import Found, Page, Search
from harness.secrecy.values import Form, form_of

__all__ = ["Form", "Found", "Page", "Search", "form_of"]
