"""The commands, one file each: each parses, calls and prints, and decides nothing."""
