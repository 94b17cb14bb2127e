"""Errors, documents, redaction, trust, limits, statistics and JSON, for every room above.

What comes in: texts, numbers and files, as users and servers wrote them. What goes out: values
within bounds, or an error with file, line and remedy. It knows no suite, no server and no model.
"""

from harness.re_exports import re_export

__getattr__, __dir__ = re_export(__name__, __file__)
