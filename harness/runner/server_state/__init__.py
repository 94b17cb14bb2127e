"""The server's state after a conversation, read past the model."""
