import gymnasium

from blindsave.registration import ENV_ID, register_environments


def test_registering_twice_is_harmless_and_silent():
    register_environments()
    register_environments()
    spec = gymnasium.spec(ENV_ID)
    assert spec.entry_point == "blindsave.task.env:DefendEnv"
    assert spec.vector_entry_point == "blindsave.task.vector:DefendVectorEnv"
