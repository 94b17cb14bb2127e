"""Report → bytes: one file a format; every one of them a view of the run log."""
