"""How recorded outputs are read as calls: the form of a recording, and a reader for each form."""
