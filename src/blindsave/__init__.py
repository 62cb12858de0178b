"""blindsave: a robot goalkeeper that saves air-hockey shots it cannot see.

Importing the package makes `gymnasium.make("blindsave/Defend-v0")` work.
"""

from blindsave.task.registration import register_environments

__version__ = "0.1.0"

register_environments()
