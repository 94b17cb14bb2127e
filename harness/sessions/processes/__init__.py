"""Server processes: started, watched, and ended with everything that they started."""
