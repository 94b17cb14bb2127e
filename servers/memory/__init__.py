"""A memory for models: facts from one conversation can be looked up in the next.

One of three stores, each with tools of its own: key and value, vectors, or one text that is kept
short. Every user has a memory of their own, empty at the start; it lasts as long as the process, or
as the file that it is kept in.
"""
