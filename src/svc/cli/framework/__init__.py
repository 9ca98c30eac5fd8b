"""What the words after `svc` share; nothing here is a word itself."""
