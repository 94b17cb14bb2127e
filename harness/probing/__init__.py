"""A server's policy without any model: every identity makes the same calls, and the decisions are held side by side.

`callers` says who asks, `calls` what is asked, `expectations` what suites say must come of it,
`confirmation` who is asked again; `probe` has it all asked (`asking`) and writes a run log like any
other. From that log `findings` reads what is wrong, as a `report`; `frozen` holds it against a
table that was kept.
"""
