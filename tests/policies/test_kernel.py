"""The C kernel: every operation, every vector path, every bit; and refusals instead of crashes."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blindsave.errors import BadInput
from blindsave.policies import native
from blindsave.policies.native import ProgramPolicy
from blindsave.policies.program import BINARY, UNARY
from blindsave.policies.students.student import Student
from blindsave.policies.trace import trace

pytestmark = pytest.mark.skipif(not native.paths(), reason="the C kernel was not compiled")
F = np.float32


def same_on_all_paths(step, carry: np.ndarray, observation: np.ndarray) -> None:
    program = trace(step, carry=carry.shape[1], observation=observation.shape[1])
    expected = program.run(carry, observation)
    for path in native.paths():
        policy = ProgramPolicy("test", program, path)
        assert policy.kernel.path == path
        for a, b in zip(policy.step(carry, observation), expected, strict=True):
            assert a.tobytes() == b.tobytes(), path


def rows(rng: np.random.Generator, count: int, size: int) -> np.ndarray:
    scale = 10.0 ** rng.uniform(-3, 1.5, (count, 1))
    return (rng.normal(size=(count, size)) * scale).astype(F)


@pytest.mark.parametrize("kind", UNARY)
@pytest.mark.parametrize("size", [1, 2, 5, 16, 33])
def test_unary_operations_have_equal_bits(kind, size):
    x = rows(np.random.default_rng(size), 40, size)
    x = np.abs(x) + F(1e-3) if kind in ("log", "sqrt") else x
    same_on_all_paths(lambda ops, carry, seen: (getattr(ops, kind)(carry), getattr(ops, kind)(seen)), x, x[:, ::-1])


@pytest.mark.parametrize("kind", BINARY)
def test_binary_operations_have_equal_bits(kind):
    x = rows(np.random.default_rng(0), 40, 21)
    vector = np.linspace(-2.0, 2.5, 21, dtype=F)

    def step(ops, carry, seen):
        operation = getattr(ops, kind)
        return operation(carry, seen), operation(vector, operation(seen, 0.75))

    same_on_all_paths(step, x, x[:, ::-1] + F(0.125))


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 70), st.integers(1, 70), st.integers(1, 4), st.integers(0, 10**6))
def test_linear_maps_of_any_size_have_equal_bits(out, inner, blocks, seed):
    rng = np.random.default_rng(seed)
    weight, bias = rng.normal(size=(blocks, out, inner)).astype(F), rng.normal(size=blocks * out).astype(F)

    def step(ops, carry, seen):
        first = ops.linear(seen, weight, bias)
        return ops.linear(seen, weight, carry), ops.concat(
            ops.linear(seen, weight[:1] if blocks == 1 else weight), first
        )

    same_on_all_paths(step, rows(rng, 3, blocks * out), rows(rng, 3, blocks * inner))


@pytest.mark.parametrize("size", [1, 7, 16, 64, 70, 512])
def test_rmsnorm_and_onehot_have_equal_bits(size):
    rng = np.random.default_rng(size)
    scale = rng.normal(size=size).astype(F)

    def step(ops, carry, seen):
        return ops.onehot(carry, 4), ops.rmsnorm(seen, scale, 1e-4)

    same_on_all_paths(step, rows(rng, 20, 4 * size), rows(rng, 20, size))


def test_slices_at_odd_places_have_equal_bits():
    x = rows(np.random.default_rng(3), 10, 66)

    def step(ops, carry, seen):
        odd = ops.tanh(carry[..., 1:64] * seen[..., 3:66])
        return ops.concat(odd, seen[..., 65:], carry[..., :2]), ops.silu(odd[..., 5:62])

    same_on_all_paths(step, x, x[:, ::-1])


def test_denormal_numbers_are_not_flushed():
    tiny = np.full((1, 5), 1e-41, F)
    same_on_all_paths(lambda ops, carry, seen: (carry * 0.5, seen + carry), tiny, tiny)


def test_a_step_leaves_its_arguments_alone():
    policy = Student.untrained("structured_k2", 14303)
    carry, seen = np.full((4, 66), 0.25, F), np.full((4, 19), 0.5, F)
    kept = carry.copy(), seen.copy()
    policy.step(carry, seen)
    assert np.array_equal(carry, kept[0]) and np.array_equal(seen, kept[1])


def test_session_equals_batched_steps_and_reset_equals_fresh():
    policy = Student.untrained("gru_n64", 14303)
    session, carry = policy.session(), policy.initial(1)
    seen = np.random.default_rng(0).uniform(-1, 1, (20, 19)).astype(F)
    for observation in seen:
        carry, action = policy.step(carry, observation[None])
        assert session.step(observation).tobytes() == action[0].tobytes()
        assert session.carry.tobytes() == carry[0].tobytes()
    session.reset()
    assert session.step(seen[0]).tobytes() == policy.step(policy.initial(1), seen[:1])[1][0].tobytes()


def test_native_loop_equals_steps():
    policy = Student.untrained("structured_k4", 14304)
    seen = np.random.default_rng(1).uniform(-1, 1, (50, 19)).astype(F)
    carry, actions, last = policy.initial(1)[0], np.zeros((50, 2), F), np.zeros((1, 2), F)
    policy.kernel.loop(carry, seen, actions, 50)
    session = policy.session()
    assert np.stack([session.step(o).copy() for o in seen]).tobytes() == actions.tobytes()
    policy.kernel.loop(policy.initial(1)[0], seen[:1], last, 50)
    assert np.isfinite(last).all()
    seen[20, 3] = np.inf
    with pytest.raises(BadInput, match="not finite"):
        policy.kernel.loop(policy.initial(1)[0], seen, actions, 50)
    with pytest.raises(BadInput, match="one row per step"):
        policy.kernel.loop(policy.initial(1)[0], seen[:7], actions, 50)


def test_threads_share_one_policy():
    policy = Student.untrained("gru_n64", 14305)
    seen = np.random.default_rng(2).uniform(-1, 1, (4, 300, 19)).astype(F)
    expected = [policy.step(policy.initial(300), s)[1].tobytes() for s in seen]
    found = [b""] * 4

    def work(index: int) -> None:
        for _ in range(5):
            found[index] = policy.step(policy.initial(300), seen[index])[1].tobytes()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


def test_the_capsule_outlives_its_policy():
    import ctypes

    class Native(ctypes.Structure):
        STEP = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
        _fields_ = (("carry_floats", ctypes.c_size_t), ("step", STEP), ("self", ctypes.c_void_p))

    policy = Student.untrained("structured_k0", 14303)
    seen, carry, action = np.full(19, 0.5, F), np.zeros(66, F), np.zeros(2, F)
    expected = policy.step(policy.initial(1), seen[None])
    capsule = policy.native
    del policy
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    c_policy = Native.from_address(get(capsule, b"blindsave.policy"))
    assert c_policy.carry_floats == 66
    c_policy.step(c_policy.self, carry.ctypes.data, seen.ctypes.data, action.ctypes.data)
    assert carry.tobytes() == expected[0].tobytes() and action.tobytes() == expected[1].tobytes()


@pytest.mark.parametrize(
    ("carry", "seen", "reason"),
    [
        (np.zeros((1, 66), F), np.zeros((1, 18), F), "observations of shape"),
        (np.zeros((1, 65), F), np.zeros((1, 19), F), "carries of shape"),
        (np.zeros((2, 66), F), np.zeros((1, 19), F), "carries of shape"),
        (np.zeros((1, 66), F), np.full((1, 19), np.nan, F), "not finite"),
        (np.zeros((1, 66), F), np.full((1, 19), np.inf, F), "not finite"),
    ],
)
def test_bad_arguments_are_refused_with_the_reason(carry, seen, reason):
    with pytest.raises(BadInput, match=reason):
        Student.untrained("structured_k0", 14303).step(carry, seen)


def test_sessions_refuse_bad_observations_and_stay_usable():
    session = Student.untrained("structured_k0", 14303).session()
    for bad in (np.zeros(18, F), np.zeros(19), np.full(19, np.nan, F), np.zeros(38, F)[::2]):
        with pytest.raises((BadInput, BufferError, ValueError)):
            session.step(bad)
    with pytest.raises(TypeError):
        session.step(3)
    assert not session.carry.any()
    assert np.isfinite(session.step(np.zeros(19, F))).all()


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(-200, 200), min_size=7, max_size=7), st.binary(max_size=400), st.integers(0, 40))
def test_random_programs_are_refused_or_run_but_never_crash(sizes, ops, constants):
    module = native.kernel_module()
    assert module is not None
    try:
        kernel = module.Kernel(tuple(sizes), ops, bytes(4 * constants), None)
    except BadInput:
        return
    carry, seen, action = (np.zeros(max(0, n), F) for n in sizes[:3])
    kernel.step(carry, seen, action, 1)


def test_an_unknown_vector_path_is_refused():
    with pytest.raises(BadInput, match="no vector path `avx9`"):
        ProgramPolicy("x", Student.untrained("feed_forward", 1).program, "avx9")


def test_the_environment_variable_forces_a_path(monkeypatch):
    monkeypatch.setenv(native.PATH_VARIABLE, "scalar")
    assert Student.untrained("feed_forward", 1).kernel.path == "scalar"
