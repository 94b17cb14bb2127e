"""Every output of a run: console, files, pages, the SQL store and telemetry.

What comes in: a run log. What goes out: a `Report` and its projections; none of them has a fact of
its own.
"""

from harness.re_exports import re_export

__getattr__, __dir__ = re_export(__name__, __file__)
