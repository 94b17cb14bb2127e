"""From what happened to verdicts: the only place where a status is decided."""
