"""The server's state after a conversation, read without the model."""
