"""Runs as OpenTelemetry traces, made from the log.

`build_trace` makes the spans of one trial out of its line in the log; `export_log` sends those of a
whole log. Nothing is measured anew, and nothing here can change a result.
"""
