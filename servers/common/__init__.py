"""Code that the servers share.

The caller's identity (`identity`, over HTTP by `tokens`), permissions (`policy`), and their
enforcement (`governed`).
"""
