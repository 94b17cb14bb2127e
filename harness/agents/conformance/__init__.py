"""The official conformance scenarios for servers: the package is run, and its results are read."""
