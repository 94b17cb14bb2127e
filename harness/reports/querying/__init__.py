"""A run as SQL tables: an index beside its log, which questions are put to.

`tables` says what the columns are and where their values come from, `index` reads a log into
them, `kept` keeps the file, `asking` puts a question to one or several runs. Values come from the
functions that reports use: what SQL counts is what a report says.
"""
