"""The same adapters as on one machine, on AWS."""
