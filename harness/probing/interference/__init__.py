"""Non-interference: altering a value must not change the answers to callers who must not see it.

`data_sets` defines the two sets of data, A and B. `run` makes the calls with both; `further_calls`
adds calls to the suite's own. `answer_locations` splits answers into comparable places,
`comparison` decides which differences count, `outcome` derives the findings from the log.
"""
