"""The official rules, one file a rule; each returns ``None`` or a `Fault`."""
