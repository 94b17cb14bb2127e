"""The rules of ``harness lint``, one file for each family; its ``FAMILY`` names and checks them."""
