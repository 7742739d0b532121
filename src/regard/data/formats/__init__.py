"""What reads and what writes each format of files, side by side."""
