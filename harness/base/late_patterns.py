"""Patterns that are compiled when they are first used.

A command loads hundreds of patterns, most of them for what never happens in its run, and to compile
one takes longer than to load a small module.
"""

from __future__ import annotations

import re
from typing import Any, cast


class _LatePattern:
    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        # Called only for what is not here yet: each method is looked up once.
        found = getattr(re.compile(self.pattern, self._flags), name)
        self.__dict__[name] = found
        return found


def compile_late(pattern: str, flags: re.RegexFlag | int = 0) -> re.Pattern[str]:
    """Return ``pattern`` as `re.compile` does, but compile it at the first use of a method.

    For constants of modules whose tests use every pattern: a mistake is found no sooner. It is no
    argument for functions of `re`.
    """
    return cast("re.Pattern[str]", _LatePattern(pattern, int(flags)))
