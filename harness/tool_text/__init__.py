"""The text of tools: terms, verbs, parameters and ranking; used by baseline, lint and drafting."""
