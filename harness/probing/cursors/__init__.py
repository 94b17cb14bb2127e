"""Pagination cursors of other callers: sending one must give no more than one's own cursors."""
