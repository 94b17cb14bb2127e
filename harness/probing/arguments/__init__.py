"""Arguments that are tampered with: ids, spellings, types, bounds, and undeclared keys.

`argument_change` proposes the changes of values, `tampering` the others, and makes calls of them
all. `argument_names` tells which arguments are ids, and which take a cursor.
"""
