"""Test a server's access policy without a model: every identity makes the same calls.

`callers` has the identities, `planned_calls` the calls, `expectations` the decisions that suites
expect, and `repeated_calls` the confirmation of suspicious answers. `probe` makes all calls and
writes a run log. `findings` derives a `report` from that log, and `kept_decisions` compares its
decisions with those of an earlier probe.
"""
