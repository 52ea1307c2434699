"""A small library: is a book there, borrow it, bring it back."""
