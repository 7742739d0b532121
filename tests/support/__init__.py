"""What tests of several parts share: records made by hand, and readers of what was written."""
