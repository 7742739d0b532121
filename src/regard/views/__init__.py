"""Records to something to look at; a view never computes and never imports torch."""
