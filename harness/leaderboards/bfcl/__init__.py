"""The Berkeley Function-Calling Leaderboard (BFCL) 4: cases, official rules, recorded outputs.

Data is fetched and never part of this project; the rules are written anew from their description,
and tested against recorded outputs with official verdicts.
"""
