"""How values are compared: texts, amounts, paths, JSON values and matchers."""
