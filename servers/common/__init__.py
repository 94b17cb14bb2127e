"""What the servers share: who asks (`identity`), what they may (`policy`), and who sees to it (`governed`)."""
