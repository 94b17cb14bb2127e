"""The text of tools: terms, verbs, parameters and ranking, shared by the baseline, lint and drafting."""
