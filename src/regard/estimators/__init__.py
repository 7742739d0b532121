"""Fit, predict, explain, save and load, the scikit-learn way."""
