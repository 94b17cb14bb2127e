"""Actions on a run that has ended: review its verdicts, and run it again."""
