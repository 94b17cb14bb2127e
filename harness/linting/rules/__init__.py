"""The rules of ``harness lint``, one file a family, whose ``FAMILY`` names them and finds what breaks them."""
