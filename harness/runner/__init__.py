"""From plan to log: the conversation loop, simulated users, variants, engines and limits.

What comes in: suites, models and options. What goes out: a run log that holds each trial, whatever
ends the run.
"""

from harness.re_exports import re_export

__getattr__, __dir__ = re_export(__name__, __file__)
