"""Everything that is printed: results in five formats, errors, and the words around them."""
