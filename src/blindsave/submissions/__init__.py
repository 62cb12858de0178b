"""Comparing with others: a policy packed with its plan and rows, played again by whoever doubts it, and ranked.

Read in this order: `layout` (the files of a submission and what binds them), `pack` (making one), `card` (its model
card), `check` (verifying one), `board` (the table of verified ones), `board_files` (as Markdown and as a page).
"""

from blindsave.submissions.check import verify_submission
from blindsave.submissions.layout import is_submission
from blindsave.submissions.pack import pack

__all__ = ["is_submission", "pack", "verify_submission"]
