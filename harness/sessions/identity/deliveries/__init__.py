"""The ways in which an identity reaches a server, one file each; its ``DELIVERY`` is the class."""
