"""Explanations: on a page, in a terminal, as a picture."""
