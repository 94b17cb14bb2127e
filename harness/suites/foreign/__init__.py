"""Suites of other tools, translated into ours: one file a format, each key carried over or refused.

A translator returns our own format as plain data, which is then read like any suite in YAML. So a
translated suite has every rule of ours, and can be written down as one of ours.
"""
