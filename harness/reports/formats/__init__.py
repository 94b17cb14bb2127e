"""The formats of a report, one file each; every one of them a view of the run log."""
