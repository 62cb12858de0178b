"""Evidence that defends itself: does everything a study shows still fit together, byte by byte and row by row?

Read in this order: `places` (where a study's files lie), `findings` (what is said of them), `left_out` (files
that were frozen and are not shipped), `seal` (plan, freeze, ledger and what they bind), `played` (tables and shots),
`replay` (rows played again), `study` (all of it).
Nothing here can change a result; docs/seal.md says what each check can and cannot see.
"""

from blindsave.verify.findings import Failure, Verification
from blindsave.verify.study import refuse_unverified, verify

__all__ = ["Failure", "Verification", "refuse_unverified", "verify"]
