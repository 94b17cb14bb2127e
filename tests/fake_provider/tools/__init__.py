"""What the APIs accept as tools beyond plain functions."""
