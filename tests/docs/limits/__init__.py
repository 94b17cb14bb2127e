"""What the pages say is not supported is refused: each such sentence, fed to the program."""
