"""Mutants: tool lists with one planted defect each, to test whether a suite detects it.

::

    mutant.py       what a mutant is
    of_texts.py     defects in the description of a tool
    of_names.py     tools and parameters under wrong names
    of_values.py    defects in parameters: text, unit, enum, example, default
    wrong_words.py  words and their opposites
    plant.py        the operators, and a fair choice of their mutants
    missing.py      the test that a suite lacks where a mutant survives
    killing.py      which mutants a suite notices
"""
