"""What a model does over a whole corpus, and where two models differ."""
