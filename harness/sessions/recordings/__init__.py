"""A server that is a recording: it answers from the frames of a run log."""
