"""A Python function in place of a model."""

from __future__ import annotations

from harness.models.model import Provider

PROVIDER = Provider(opens="harness.models.python_function:FunctionModel", answers="function")
"""``--model python:my.module:function``."""
