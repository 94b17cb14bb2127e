"""Server processes: start, watch, and end them with all their child processes."""
