"""What is deployed. It knows nothing of the product's code."""
