"""What the servers share.

Who asks (`identity`, over HTTP by `tokens`), what they may (`policy`), and who sees to it
(`governed`).
"""
