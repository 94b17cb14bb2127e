"""The axes of a trial beside case, model, identity and repeat: a file each, listed in `table`."""
