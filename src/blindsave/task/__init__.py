"""One shot, one blackout, one outcome: the defence task on top of the arena."""
