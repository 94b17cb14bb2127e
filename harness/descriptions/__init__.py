"""Which words of a tool work: lint, drafts, and the workbench."""
