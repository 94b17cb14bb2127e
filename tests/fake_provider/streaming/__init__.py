"""A whole answer as the events that the real APIs stream it in, one file an API."""
