"""The pictures of ``docs/images``: ``python -m tests.pictures`` takes them from real runs.

===========  =================================================================================
`looking`    what one does in a browser: read, press, click, scroll, take a picture
`runs`       the runs that they show, each made when it is first needed
`taken`      each picture, and what is done for it
===========  =================================================================================

Everything is found by what a reader sees: headings, the words of links and buttons, keys.
"""
