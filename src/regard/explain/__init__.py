"""What decided, by one method a file."""
