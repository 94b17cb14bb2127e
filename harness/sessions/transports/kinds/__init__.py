"""The transports, one file each; its ``TRANSPORT`` has its keys and how to connect."""
