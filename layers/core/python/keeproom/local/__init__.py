"""Everything on one machine."""
