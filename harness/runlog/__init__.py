"""The append-only run log: the source of every report, comparison, resume and replay.

One JSON object a line. The first is a header, then come tool lists and one line for each trial that
ended; a footer closes it. What a person says of a verdict later is a line of its own. A log without
a footer is an interrupted run and is readable; a torn last line (the process was killed while it
wrote) is passed over, and cut off when the log is appended to.

`LogWriter` appends, `read_log` reads. Lines are of `Line`; their ``schema`` is `SCHEMA_VERSION`.
"""

from harness.runlog.amending import amended
from harness.runlog.lines import (
    SCHEMA_VERSION,
    CallLine,
    Damaged,
    Footer,
    Header,
    Line,
    ReviewLine,
    ToolsLine,
    TrialLine,
)
from harness.runlog.reader import RunLog, being_written, read_header, read_lines, read_log
from harness.runlog.writer import LogWriter, discard

__all__ = [
    "SCHEMA_VERSION",
    "CallLine",
    "Damaged",
    "Footer",
    "Header",
    "Line",
    "LogWriter",
    "ReviewLine",
    "RunLog",
    "ToolsLine",
    "TrialLine",
    "amended",
    "being_written",
    "discard",
    "read_header",
    "read_lines",
    "read_log",
]
