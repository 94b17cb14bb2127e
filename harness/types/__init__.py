"""The nouns: every value that travels between the parts of harness.

Data goes one way::

    Suite → Trial → (Session × Model) → Transcript → CheckResult → TrialResult → Report

This package is the ground floor: it knows nothing else of harness, and everything in it is an
immutable value: a frozen dataclass, a ``Literal`` or an alias. Times named ``*_s`` are seconds,
times named ``*_at`` are UTC in ISO 8601, money is US dollars, and ``None`` always means *unknown*
or *absent*, never zero.
"""

from harness.re_exports import re_export

__getattr__, __dir__ = re_export(__name__, __file__)
