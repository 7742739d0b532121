"""Writing a sequence about another: decoders, what they look at, and the search."""
