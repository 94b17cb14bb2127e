"""Used by every room above: errors, documents, redaction, trust, limits, statistics, JSON."""
