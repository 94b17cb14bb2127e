"""The stateful APIs of BFCL's multi-turn cases, one module a class, written from their behaviour.

What a verdict compares is what upstream gives for the same calls: public attributes, results, error
texts.
"""
