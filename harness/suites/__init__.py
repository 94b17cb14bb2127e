"""Suites: files in every format, configuration, discovery, and leaderboards as plug-ins.

What comes in: names, paths and objects in Python. What goes out: a `Suite`, or all problems of a
file with their places.
"""

from harness.re_exports import re_export

__getattr__, __dir__ = re_export(__name__, __file__)
