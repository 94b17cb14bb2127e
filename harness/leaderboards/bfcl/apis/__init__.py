"""The stateful APIs of BFCL's multi-turn cases, one module a class, written from their behaviour.

For the same calls they have the public attributes, results and error texts of upstream, which are
what a verdict compares.
"""
