"""Other roads to what a suite says that an identity does not get.

A policy is checked where its author thought of it. A list of fields, a grouping, a summary, a link,
an older version or a template may give the same data by another road. `statements` has what the
suites state of records and fields, `road_choice` proposes calls that may lead there, `road_calls`
makes them, and `road_findings` searches all answers for what was stated to be kept. `shared_state`
tells what one caller's calls do to another's.
"""
