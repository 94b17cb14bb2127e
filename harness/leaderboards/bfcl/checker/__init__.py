"""The official rules, one file a rule: what is right is ``None``, what is wrong is a `Fault`."""
