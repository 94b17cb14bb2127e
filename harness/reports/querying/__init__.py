"""A run as SQL tables: the store beside its log, which questions are put to.

`tables` says what the columns are and where their values come from, `log_indexer` reads a log into
them, `index` keeps the file, `sql_query` puts a question to one or several runs. Values come from
the functions that reports use: what SQL counts is what a report says.
"""
