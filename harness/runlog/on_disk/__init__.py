"""Results of a large log in files without a name, so that memory does not grow with their number.

A log of up to `MOST_IN_MEMORY` trials has its results in memory. Beyond that `latest_results` has
the last result of each trial as the log is read, and `result_storage` sorts results and holds those
of a report, to be read as a sequence. What the trials of a case have in common, `CaseFacts`, stays
in memory in any case.
"""
