"""A first suite, drafted from a server's tool list alone, without calling a tool.

::

    tool → prompt → case        suite → text → file
      wording.py   draft.py          render.py  files.py

Comments mark what a draft cannot know: which values are guesses, and what must be edited.
"""
