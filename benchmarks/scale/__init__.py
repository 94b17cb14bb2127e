"""What a run of a hundred thousand trials takes, and what one of ten million would."""
