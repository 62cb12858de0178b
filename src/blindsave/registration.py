"""Make `gymnasium.make("blindsave/Defend-v0")` work. Names only: the task is imported when an environment is made."""

ENV_ID = "blindsave/Defend-v0"
REMEMBER_ID = "blindsave/Remember-v0"
ENTRY_POINTS = {
    ENV_ID: ("blindsave.task.env:DefendEnv", "blindsave.task.vector:DefendVectorEnv"),
    REMEMBER_ID: ("blindsave.task.remember_env:remember", "blindsave.task.remember_env:remember_vector"),
}
"""Every environment: how one is made, and how many at once are."""


def register_environments() -> None:
    """Tell Gymnasium, where there is one, about the tasks; doing so twice is harmless."""
    try:
        from gymnasium.envs.registration import register, registry
    except ImportError:  # training a teacher needs no Gymnasium
        return
    for name, (one, many) in ENTRY_POINTS.items():
        if name not in registry:
            register(id=name, entry_point=one, vector_entry_point=many)
