"""Students: tiny policies that differ only in their memory core."""

from blindsave.policies.students.core import MemoryCore, glorot, zeros
from blindsave.policies.students.family import Family
from blindsave.policies.students.registry import PAPER_FAMILIES, families, family, find, register

__all__ = ["PAPER_FAMILIES", "Family", "MemoryCore", "families", "family", "find", "glorot", "register", "zeros"]
