"""The page of a run, from the store beside its log (`harness.reports.querying.index`).

The page asks for the rows that are on the screen; the store filters, sorts, counts and searches, so
that neither the browser nor the server ever holds a whole run.

========== ==================================================================
`writing`  adds what the page shows to a store, from the log and its report
`tables`   reads it
`rows`     the rows that fit what is asked for, and those on the screen
`together` the cells of several runs side by side
========== ==================================================================
"""
