"""The kinds of check, one file a family; `harness.judging.checks.KINDS` finds them by name."""
