"""What the harness itself costs, beside the same work written by hand: ``python -m benchmarks``."""
