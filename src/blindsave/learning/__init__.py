"""How policies come to be."""
