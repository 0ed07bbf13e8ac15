"""One long-term memory for all of a person's AI agents."""
