"""The kinds of agents, one file each, named like its ``type:``."""
