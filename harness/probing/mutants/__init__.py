"""Mutation score: how many faults of a server would a policy suite notice?

A mutant is a changed copy of the recorded answers with one fault: a refusal becomes an answer, a
withheld field is included, two identities are swapped. It is judged like the recorded answers, by
the suite's expectations and the search for leaks. The server is not called again, and its source is
not needed.

`recording` has the answers, `operators` creates mutants, and `score` counts which are noticed.
`probe_mutants` applies this to a probe, `run_mutants` to a run.
"""
