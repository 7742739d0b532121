"""What the views of all records share: colours, numbers in words, charts, the frame of a page."""
