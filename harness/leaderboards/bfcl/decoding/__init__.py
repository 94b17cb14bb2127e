"""Reads recorded outputs as calls: the form of a recording, and a reader for each form."""
