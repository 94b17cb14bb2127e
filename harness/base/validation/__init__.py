"""Validation by foreign JSON Schemas within a budget of work, so that no schema can hang a run.

::

    budget.py      how much work is left
    equality.py    enum, const and uniqueItems, in linear time
    matching.py    pattern, patternProperties and additionalProperties, by RE2
    evaluated.py   unevaluatedItems and unevaluatedProperties
    validators.py  the validators of every draft with all of these, and what they find

The work is counted in steps, not in seconds, so that a schema and a value always give the same
result.
"""
