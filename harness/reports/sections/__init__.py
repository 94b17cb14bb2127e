"""What reports show, whatever their format: one file a section."""
