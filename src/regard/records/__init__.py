"""Plain data that travels: to JSON and back, drawn by ``views``; nothing here imports torch."""
