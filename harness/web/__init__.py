"""The web page and its HTTP API: run dropped datasets, show results as they arrive, list past runs.

The page's process never runs a suite. Each run has a process of its own (`worker`), which reports
what it begins and ends; results are read from its log (`feed`), as for a run that was started in a
terminal. There is no other storage, so a page that is closed, reloaded or opened by somebody else
shows the same.

============== =====================================================================
`settings`     limits, address, token
`requests`     who may ask at all: Host, Origin, token; refusals; work that ends with its client
`uploads`      a multipart request becomes an `Upload` and a `Choice`
`vetting`      what an uploaded suite may not ask for
`worker`       the process of one run
`process`      that process, as the page sees it
`jobs`         one run from upload to log; the `Board` of all of them, and its queue
`feed`         the events of a run, numbered, for any number of listeners
`following`    runs that were started elsewhere, followed by their logs
`results`      one trial, and a whole run, as the page shows them
`history`      past runs
`ended`        what people say of the verdicts; what a run asked, to ask it once more
`catalog`      all of them in memory, found by suite, model and result
`run_listing`  the runs of a folder, the newest first
`run_index`    what the list says of a run, kept beside its log
`run_view`     a whole run as its page shows it, kept there too
`view`         the file of that: rows that are filtered, sorted and searched in it
`kept_page`    the page that harness view wrote before
`reading`      a large log that nobody has opened yet
`talks`        what is said in trials that go on
`viewing`      the grid of a run, its rows, its single trials, and a search
============== =====================================================================
"""
