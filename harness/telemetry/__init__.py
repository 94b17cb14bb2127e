"""Runs as OpenTelemetry traces: one more view of the log, for whoever looks at agents there.

`trace_of` makes the spans of one trial out of its line in the log; `export_log` sends those of a
whole log. Nothing is measured anew, and nothing here can change a result.
"""
