"""The description workbench: what a suite can show about a server's tool descriptions."""
