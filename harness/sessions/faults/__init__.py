"""The interposer: what stands between a session and a model, so that calls go wrong on purpose."""
