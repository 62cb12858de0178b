"""Policies: anything that maps what was seen to a mallet target. None of this needs JAX to run."""

from blindsave.policies.base import Policy
from blindsave.policies.catalog import NamedPolicy, load, load_file, register_format, register_name, resolve, shipped

__all__ = ["NamedPolicy", "Policy", "load", "load_file", "register_format", "register_name", "resolve", "shipped"]
