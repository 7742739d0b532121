"""How far a model's explanations can be trusted, measured over a whole data set."""
