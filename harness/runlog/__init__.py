"""The append-only run log: the source of every report, comparison, resume and replay.

One JSON object a line. The first is a header, then come tool lists and one line for each trial that
ended; a footer closes it. What a person says of a verdict later is a line of its own. A log without
a footer is an interrupted run and is readable; a torn last line (the process was killed while it
wrote) is passed over, and cut off when the log is appended to.

What comes in: what happened, as `Line`s for a `LogWriter`. What goes out: a `RunLog` of `read_log`.
"""

from harness.re_exports import re_export

__getattr__, __dir__ = re_export(__name__, __file__)
