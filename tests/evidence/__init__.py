"""What logs and their views say of one another, for every command and every report."""
