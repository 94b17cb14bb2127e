"""How many faults of a server would a policy suite notice? Plant them in its recorded answers.

A mutant is a rewriting of the answers that a probe recorded: one refusal becomes an answer, one
field is no longer withheld, two identities are mixed up. It is judged by the suite's expectations
and by the search for leaks, as the recorded answers are. The server is not called again, and
nothing is needed of its source.

`recording` holds the answers, `operators` yields mutants of them, `score` counts who notices them.
`probe_recording` and `probe_verdicts` do so for a probe.
"""
