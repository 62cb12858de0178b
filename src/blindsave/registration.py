"""Make `gymnasium.make("blindsave/Defend-v0")` work. Names only: the task is imported when an environment is made."""

ENV_ID = "blindsave/Defend-v0"


def register_environments() -> None:
    """Tell Gymnasium, where there is one, about the task; doing so twice is harmless."""
    try:
        from gymnasium.envs.registration import register, registry
    except ImportError:  # training a teacher needs no Gymnasium
        return
    if ENV_ID not in registry:
        register(
            id=ENV_ID,
            entry_point="blindsave.task.env:DefendEnv",
            vector_entry_point="blindsave.task.vector:DefendVectorEnv",
        )
