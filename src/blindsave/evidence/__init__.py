"""What may be claimed: paired grids, episode tables, statistics of those tables, and the seal of the test.

Read in this order: `schedule` (which episodes), `grid` (run them), `tables` (keep and check them), `saves` (as
arrays), `resample` and `intervals` (the arithmetic of every interval), `principal`, `paired`, `strata` (the
analyses), `plan`, `freeze`, `ledger`, `release` (the seal).
"""
