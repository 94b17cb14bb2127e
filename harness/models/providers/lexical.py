"""The built-in baseline, which needs no key, no network and no configuration."""

from __future__ import annotations

from harness.models.model import Provider

PROVIDER = Provider(opens="harness.models.lexical:LexicalModel", answers="baseline")
"""``--model lexical``."""
