"""Suites written in Python: classes with cases, checks, tools and variants."""
