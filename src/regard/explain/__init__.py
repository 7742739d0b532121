"""What decided, by several methods, and how faithful each of them was measured to be."""
