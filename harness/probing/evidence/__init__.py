"""What shows withheld data other than a field that has it.

`beside_ids` finds values in a text that names their record; `order` finds rows in the order of
values that are withheld; `payloads` reads what tokens in an answer hold.
"""
