"""One shot, one blackout, one outcome: the defence task on top of the arena.

Importing it makes `gymnasium.make("blindsave/Defend-v0")` work.
"""

from blindsave.task.registration import register_environments

register_environments()
