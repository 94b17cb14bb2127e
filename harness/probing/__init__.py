"""A server's policy without any model: identities make the same calls, decisions are compared.

`callers` has the identities, `calls` the calls, `expectations` what suites expect of them, and
`confirmation` the repeated calls; `probe` makes them all and writes a run log like any other. From
that log, `findings` derives what is wrong, as a `report`; `kept_decisions` compares it with a table
that was kept.
"""
