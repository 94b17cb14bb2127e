"""The analyses of the studies: plain data in, what it shows out."""
