"""What the pages say, one module a language; every module has every key."""
