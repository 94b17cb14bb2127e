"""JSON Schemas that others wrote, applied within a bound of work: no schema can hang a run.

::

    budget.py      how much work is left
    equality.py    enum, const and uniqueItems, in linear time
    matching.py    pattern, patternProperties and additionalProperties, by RE2
    evaluated.py   unevaluatedItems and unevaluatedProperties
    validators.py  the validators of every draft with all of these, and what they find

The work is counted in steps and not in seconds, so that one schema and one value always come to the
same end.
"""
