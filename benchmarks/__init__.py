"""The overhead of harness compared with the same work written by hand: ``python -m benchmarks``."""
