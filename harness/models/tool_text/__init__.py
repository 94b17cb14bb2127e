"""The text of tools: terms, verbs, parameters, ranking, tokens; for baseline, lint and others."""
