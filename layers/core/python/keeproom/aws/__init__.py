"""Where things are on AWS."""
