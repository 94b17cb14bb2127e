"""Engines: what carries out the trials of a run, in one process or on many machines."""
