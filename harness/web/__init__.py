"""The web page and its HTTP API: run dropped datasets, show results as they come, list past runs.

The page's process never runs a suite. Each run has a process of its own, which reports what it
begins and ends; results are read from its log, as for a run that was started in a terminal. What
comes in: requests of browsers on loopback. What goes out: pages, and the same files as from the
command line.
"""

from harness.re_exports import re_export

__getattr__, __dir__ = re_export(__name__, __file__)
