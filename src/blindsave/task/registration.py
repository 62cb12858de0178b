"""Make `gymnasium.make("blindsave/Defend-v0")` work. Light on purpose: every import of the task comes through here."""

import contextlib

ENV_ID = "blindsave/Defend-v0"


def register_environments() -> None:
    """Tell Gymnasium about the task; doing so twice is harmless. Machines that only train do without Gymnasium."""
    with contextlib.suppress(ModuleNotFoundError):
        from gymnasium.envs.registration import register, registry

        if ENV_ID not in registry:
            register(
                id=ENV_ID,
                entry_point="blindsave.task.env:DefendEnv",
                vector_entry_point="blindsave.task.vector:DefendVectorEnv",
            )
