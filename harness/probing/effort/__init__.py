"""How much of a probe is asked: what options leave of it, and what a budget allows.

`narrowing` chooses tools, identities and kinds of calls, `budget` counts calls and time.
"""
