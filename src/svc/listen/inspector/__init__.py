"""The inspector: a page on this machine that shows what a listener receives and sends it again."""
