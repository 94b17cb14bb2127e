"""The transports, one file each, whose ``TRANSPORT`` says what it takes and how to connect."""
