"""The commands that other programs start: coding agents, clients and shells. One file each."""
