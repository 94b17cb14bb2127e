"""Arguments that are tampered with: ids, spellings, types, bounds, and undeclared keys.

`bending` makes calls of them. The other modules each yield one sort of
`argument_change.ArgumentChange`.
"""
