"""Other runtimes for the latency bench, each tuned fairly and each optional: ONNX Runtime and torch."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from blindsave.policies.arithmetic import Array
from blindsave.policies.program import Const, Op, Pieces, Program, Slot

Stepper = Callable[[Array], Any]


def onnx_stepper(model: bytes, program: Program) -> Stepper | None:
    """ONNX Runtime with one thread and bound buffers, the state fed back in place; None if not installed."""
    try:
        import onnxruntime as ort
    except ModuleNotFoundError:
        return None
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    observation = np.zeros((1, program.observation), np.float32)
    action = np.zeros((1, program.action), np.float32)
    carries = [np.zeros((1, program.carry), np.float32) for _ in range(2)]
    bindings = []
    for now, then in (carries, carries[::-1]):  # two bindings, so that the new carry is the next call's old one
        binding = session.io_binding()
        _bind(binding.bind_input, "observation", observation)
        _bind(binding.bind_output, "action", action)
        if program.carry:
            _bind(binding.bind_input, "carry", now)
            _bind(binding.bind_output, "carry_out", then)
        bindings.append(binding)
    run, turn = session.run_with_iobinding, 0

    def step(values: Array, alive: list[Array] = carries) -> Array:  # the bindings hold bare addresses of `carries`
        nonlocal turn
        observation[0] = values
        run(bindings[turn])
        turn = 1 - turn
        return action

    return step


def _bind(bind: Callable[..., None], name: str, array: Array) -> None:
    bind(name, "cpu", 0, np.float32, list(array.shape), array.ctypes.data)


def torch_stepper(program: Program) -> Stepper | None:
    """Traced and frozen torch with one thread; None if torch is not installed."""
    try:
        import torch  # pyright: ignore[reportMissingImports]
    except ModuleNotFoundError:
        return None
    torch.set_num_threads(1)
    constants = [torch.from_numpy(np.array(array)) for array in program.constants]

    class Step(torch.nn.Module):
        def forward(self, carry: Any, observation: Any) -> tuple[Any, Any]:
            tape = Pieces(lambda value, start, stop: value[start:stop], torch.cat)
            tape.write(program.observation_in, observation)
            if program.carry:
                tape.write(program.carry_in, carry)

            def read(arg: Slot | Const) -> Any:
                return constants[arg.number] if isinstance(arg, Const) else tape.read(arg)

            for op in program.ops:
                tape.write(op.out, _torch_op(torch, op, [read(arg) for arg in op.args]))
            return read(program.carry_out) if program.carry else carry, read(program.action_out)

    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # still the fastest form for batch one
        example = (torch.zeros(program.carry), torch.zeros(program.observation))
        module = torch.jit.freeze(torch.jit.trace(Step().eval(), example))
    carry = torch.zeros(program.carry)

    def step(values: Array) -> Any:
        nonlocal carry
        with torch.inference_mode():
            carry, action = module(carry, torch.from_numpy(values))
        return action

    return step


def _torch_op(torch: Any, op: Op, args: list[Any]) -> Any:
    match op.kind:
        case "copy":
            return args[0]
        case "linear":
            return torch.nn.functional.linear(args[0], args[1]) + args[2]
        case "silu":
            return torch.nn.functional.silu(args[0])
        case "onehot":
            hot = torch.nn.functional.one_hot(args[0].reshape(-1, int(op.number)).argmax(1), int(op.number))
            return hot.reshape(-1).to(torch.float32)
        case "add" | "sub" | "mul" | "div" | "maximum" | "minimum":
            return getattr(torch, op.kind)(*args)
        case _:
            return getattr(torch, op.kind)(args[0])
