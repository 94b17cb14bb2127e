"""Do the tests of the judges notice when a judge is wrong? ``make mutations`` makes the code wrong
and asks them.

`mutants` makes the mistakes, one at a time: another comparison, bound, boolean, sum, number,
condition or return value. `trials` runs the tests that reach the place. `python -m tests.mutations`
draws a sample and counts what they noticed.
"""

JUDGES = (
    "harness/judging/checks/*.py",
    "harness/judging/checks/*/*.py",
    "harness/judging/matching/*.py",
    "harness/judging/*.py",
    "harness/judging/policy/*.py",
    "harness/base/stats/*.py",
    "harness/leaderboards/bfcl/check.py",
    "harness/leaderboards/bfcl/checker/*.py",
    "harness/leaderboards/tau2/checks.py",
    "harness/leaderboards/tau2/checks.py",
    "harness/reports/build.py",
    "harness/reports/comparing/contrasts.py",
    "harness/reports/sections/remarks.py",
)
"""All that decides a verdict, a leak, a figure, or what these come to."""

TESTS = (
    "tests/judging/checks",
    "tests/judging",
    "tests/judging/matching",
    "tests/base/stats",
    "tests/leaderboards/bfcl/checker",
    "tests/leaderboards/bfcl/test_rules.py",
    "tests/leaderboards/test_checks.py",
    "tests/leaderboards/tau2/test_checks.py",
    "tests/leaderboards/tau2/test_result_files.py",
    "tests/leaderboards/tau2/test_rules.py",
    "tests/reports/test_build.py",
    "tests/reports/comparing",
    "tests/reports/sections/test_call_outcomes.py",
    "tests/judging/secrecy",
)
"""The tests of it that are quick: those of whole commands would notice more."""
