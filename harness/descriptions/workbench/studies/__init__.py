"""The studies of the workbench, one file each."""
