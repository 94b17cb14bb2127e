"""Whether a server refused a caller: by words, by a code, or by refusing the session."""
