"""The providers, one file each: the traits of each are its ``PROVIDER``, read without its SDK."""
