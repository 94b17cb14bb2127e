"""The page and its HTTP API: datasets dropped into a browser, results as they arrive, past runs.

The page's process never runs a suite. Each run has a process of its own (`worker`), and says there
what it begins and ends; what came of it is read from its log (`feed`), exactly as for a run that
was started in a terminal. Nothing is kept anywhere else, so a page that is closed, reloaded or
opened by somebody else shows the same.

========== =====================================================================
`settings` limits, address, token
`guard`    who may ask at all: Host, Origin, token; headers of every answer
`uploads`  a multipart request becomes an `Upload` and a `Choice`
`vetting`  what an uploaded suite may not ask for
`worker`   the process of one run
`process`  that process, as the page sees it
`jobs`     one run from upload to log; the `Board` of all of them, and its queue
`feed`     the events of a run, numbered, for any number of listeners
`results`  one trial, and a whole run, as the page shows them
`history`  past runs
========== =====================================================================
"""
