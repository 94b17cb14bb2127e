"""Verdicts: checks, matching, secrecy and policies. No other room decides a status.

What comes in: transcripts, and the checks of their cases. What goes out: a `TrialResult` with
exactly one status for each trial, and the verdict on each case.
"""

from harness.re_exports import re_export

__getattr__, __dir__ = re_export(__name__, __file__)
