"""Parses recorded outputs into calls: detects the form of a recording, with a parser per form."""
