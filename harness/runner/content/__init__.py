"""Content that a model is given beside its prompt: files, media of results, resources."""
