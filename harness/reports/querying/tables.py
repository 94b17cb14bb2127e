"""Every table of a run. To add a column, add it to its table: name, kind, what it says, value."""

from __future__ import annotations

from harness.reports.querying.conversation_rows import CALLS, MESSAGES, REPLIES, TOOLS
from harness.reports.querying.run_rows import CASES, FINDINGS, RUNS
from harness.reports.querying.trial_rows import CHECKS, TRIALS

TABLES = (RUNS, CASES, TRIALS, CHECKS, CALLS, REPLIES, MESSAGES, TOOLS, FINDINGS)
"""In the order in which they are shown."""
OF_TRIALS = (TRIALS, CHECKS, CALLS, REPLIES, MESSAGES)
"""Those that have rows of single trials."""
