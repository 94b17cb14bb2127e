"""The providers, one file each; its ``PROVIDER`` are the traits, read without its SDK."""
