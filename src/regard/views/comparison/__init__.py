"""Models beside each other: as a page, a picture, lines for a terminal."""
