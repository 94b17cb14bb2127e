"""Resources, prompts and completions, asked for as nobody was shown them.

`choosing` finds the addresses, prompts and arguments to try; `making` makes a request and records
it like a call, so that its answer is compared with what the regular calls withhold.
"""
