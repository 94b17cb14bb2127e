"""Do the tests of the judges notice when a judge is wrong? ``make mutations`` makes the code wrong and asks them.

`mutants` makes the mistakes, one at a time: another comparison, bound, boolean, sum, number, condition or return value.
`trials` runs the tests that reach the place. `python -m tests.mutations` draws a sample and counts what they noticed.
"""

JUDGES = (
    "harness/checks/*.py",
    "harness/policy/*.py",
    "harness/stats/*.py",
    "harness/bfcl/checker/*.py",
    "harness/tau2/checks.py",
    "harness/tau2/reward.py",
    "harness/reports/access*.py",
    "harness/reports/build.py",
    "harness/reports/calls.py",
    "harness/runner/silence.py",
    "harness/runner/verdict.py",
)
"""All that decides a verdict, a leak, a figure, or what these come to."""

TESTS = (
    "tests/checks",
    "tests/policy",
    "tests/stats",
    "tests/bfcl/checker",
    "tests/bfcl/test_rules.py",
    "tests/tau2/test_recorded.py",
    "tests/tau2/test_rules.py",
    "tests/reports/test_access.py",
    "tests/reports/test_build.py",
    "tests/reports/test_calls.py",
    "tests/reports/test_case_results.py",
    "tests/runner/test_silence.py",
    "tests/runner/test_verdict.py",
)
"""The tests of it that are quick: those of whole commands would notice more."""
