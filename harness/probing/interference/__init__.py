"""Non-interference: who must not see a value gets equal answers when it is altered.

`data_sets` makes the two sets of data, `asking` asks in both, `further_calls` says what beyond the
suite's own calls, `records` and `places` take answers apart, and `comparing` says which differences
count; `outcome` is what all of that comes to, from the log alone.
"""
