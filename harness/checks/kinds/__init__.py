"""The kinds of check, one file a family; `harness.checks.KINDS` finds them by name."""
