"""A shop with customers in Brazil and Romania: the domain that the examples and the demo run on."""
