"""The commands, one file each. A command parses, calls and prints; it decides nothing."""
