"""Families by what their cores are made of."""

from blindsave.policies.students import families

ATTENTION = "attention_n8"
"""It divides by sums and multiplies by fixed matrices: only JAX trains it, and it has no whole-number form."""
PLAIN = [name for name in families() if name != ATTENTION]
"""Those that C trains and boards without a floating-point unit run."""
