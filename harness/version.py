"""The version of the package, and the name by which the package index knows it.

The command and the import are ``harness``; that name on the public index is another project's.
"""

__version__ = "0.1.0"

DISTRIBUTION = "harness-for-mcp"
