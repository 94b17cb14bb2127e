"""The Berkeley Function-Calling Leaderboard (BFCL) 4: cases, official rules, recorded outputs.

The data is fetched and never part of this project. The rules are written anew from their
description, and tested against recorded outputs with official verdicts.
"""
