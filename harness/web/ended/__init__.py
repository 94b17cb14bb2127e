"""What can be done with a run that has ended: review its verdicts, and ask it once more."""
