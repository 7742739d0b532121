"""What a kind of task needs beyond its model: loss, probabilities, scores."""
