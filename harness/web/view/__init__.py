"""The view of a run that has ended: a file of SQLite beside its log, made once.

A page asks it for the rows that are on the screen; it filters, sorts, counts and searches, so that
neither the browser nor the server ever holds a whole run.

========== ==================================================================
`tables`   what the file consists of, and whether it holds for a log
`writing`  makes it from a log and its report
`reviews`  brings it up to date after people have reviewed the run
`texts`    everything that was said, packed, and searched in turn
`rows`     the rows that fit what is asked for, and those on the screen
========== ==================================================================
"""
