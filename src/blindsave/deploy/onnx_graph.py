"""Print a program as an ONNX graph with explicit state: (observation, carry) to (action, carry_out)."""

from pathlib import Path
from typing import Any

import numpy as np

from blindsave import __version__
from blindsave.errors import BadInput
from blindsave.policies.arithmetic import ARITHMETIC
from blindsave.policies.native import ProgramPolicy
from blindsave.policies.program import Const, Op, Pieces, Program, Slot
from blindsave.store import write_whole

OPSET = 17
IR_VERSION = 9
AGREEMENT = 1e-3
"""Largest difference of actions over a closed loop; docs/deploy.md has what is usual. A wrong graph is far off."""
SIMPLE = {
    "tanh": "Tanh", "sigmoid": "Sigmoid", "exp": "Exp", "log": "Log", "sqrt": "Sqrt", "add": "Add", "sub": "Sub",
    "mul": "Mul", "div": "Div", "maximum": "Max", "minimum": "Min",
}  # fmt: skip


class _Graph:
    """Collects nodes; `tape` knows which of their values lies where."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.nodes: list[Any] = []
        self.weights: dict[str, np.ndarray] = {}
        self.tape = Pieces(self._part, lambda parts: self.node("Concat", *parts, axis=1))

    def node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        from onnx import helper

        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def weight(self, array: Any, dtype: Any = np.float32) -> str:
        name = f"w{len(self.weights)}"
        self.weights[name] = np.ascontiguousarray(array, dtype=dtype)
        return name

    def read(self, arg: Slot | Const) -> str:
        """The value of an argument."""
        return self.weight(self.program.constants[arg.number]) if isinstance(arg, Const) else self.tape.read(arg)

    def _part(self, value: str, start: int, stop: int) -> str:
        ends = [self.weight([v], np.int64) for v in (start, stop, 1)]
        return self.node("Slice", value, *ends)

    def emit(self, op: Op) -> str:
        """One operation as ONNX nodes; the name of its result."""
        if op.kind == "linear":
            return self._linear(op)
        args = [self.read(arg) for arg in op.args]
        if op.kind in SIMPLE:
            return self.node(SIMPLE[op.kind], *args)
        x = args[0]
        match op.kind:
            case "copy":
                return x
            case "silu":
                return self.node("Mul", x, self.node("Sigmoid", x))
            case "symlog":
                size = self.node("Log", self.node("Add", self.node("Abs", x), self.weight(1.0)))
                return self.node("Mul", self.node("Sign", x), size)
            case "bound":
                return self.node("Div", x, self.node("Max", self.node("Abs", x), self.weight(1.0)))
            case "rmsnorm":
                mean = self.node("ReduceMean", self.node("Mul", x, x), axes=[1], keepdims=1)
                root = self.node("Sqrt", self.node("Add", mean, self.weight(op.number)))
                return self.node("Mul", self.node("Div", x, root), args[1])
            case "onehot":
                return self._onehot(x, op)
        raise BadInput(f"the operation `{op.kind}` has no ONNX form")

    def _linear(self, op: Op) -> str:
        x, _, start = op.args
        value, weights = self.read(x), self.program.weight(op)
        parts, width = [value], weights.shape[2]
        if len(weights) > 1:
            parts = [self._part(value, g * width, (g + 1) * width) for g in range(len(weights))]
        maps = [self.node("MatMul", part, self.weight(w.T)) for part, w in zip(parts, weights, strict=True)]
        product = self.node("Concat", *maps, axis=1) if len(maps) > 1 else maps[0]
        return self.node("Add", product, self.read(start))

    def _onehot(self, x: str, op: Op) -> str:
        classes = int(op.number)
        groups = self.node("Reshape", x, self.weight([-1, op.out.size // classes, classes], np.int64))
        best = self.node("ArgMax", groups, axis=2, keepdims=0)
        hot = self.node("OneHot", best, self.weight(classes, np.int64), self.weight([0.0, 1.0]), axis=-1)
        return self.node("Reshape", hot, self.weight([-1, op.out.size], np.int64))


def onnx_model(program: Program, name: str) -> Any:
    """The program as an ONNX model; a policy without a carry has neither `carry` nor `carry_out`."""
    from onnx import TensorProto, checker, helper, numpy_helper

    graph = _Graph(program)
    graph.tape.write(program.observation_in, "observation")
    if program.carry:
        graph.tape.write(program.carry_in, "carry")
    for op in program.ops:
        graph.tape.write(op.out, graph.emit(op))
    results = {"action": graph.read(program.action_out)}
    if program.carry:
        results["carry_out"] = graph.read(program.carry_out)
    for result, value in results.items():
        graph.nodes.append(helper.make_node("Identity", [value], [result]))

    def vector(label: str, size: int) -> Any:
        return helper.make_tensor_value_info(label, TensorProto.FLOAT, ["n", size])

    inputs, outputs = [vector("observation", program.observation)], [vector("action", program.action)]
    if program.carry:
        inputs.append(vector("carry", program.carry))
        outputs.append(vector("carry_out", program.carry))
    weights = [numpy_helper.from_array(array, label) for label, array in graph.weights.items()]
    model = helper.make_model(
        helper.make_graph(graph.nodes, name, inputs, outputs, weights),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="blindsave",
        producer_version=__version__,
        doc_string=f"{name}; canonical arithmetic {ARITHMETIC} (ONNX runtimes agree closely, not in every bit)",
    )
    checker.check_model(model)
    return model


def export_onnx(policy: ProgramPolicy, folder: Path) -> Path:
    """Write PREFIX.onnx into a folder."""
    from blindsave.deploy.c_header import identifier

    if not isinstance(getattr(policy, "program", None), Program):
        raise BadInput(f"{policy.name} is not a program, so it cannot be exported")
    path = Path(folder) / f"{identifier(policy.name)}.onnx"
    return write_whole(path, onnx_model(policy.program, policy.name).SerializeToString())


def onnx_error(path: Path, policy: ProgramPolicy, steps: int = 125) -> float | None:
    """Largest difference of actions over one closed loop in ONNX Runtime; None if that is not installed."""
    from blindsave.bench.runtimes import onnx_stepper
    from blindsave.deploy.c_header import record

    step = onnx_stepper(path.read_bytes(), policy.program)
    if step is None:
        return None
    observations, _, actions = record(policy, steps)
    pairs = zip(observations, actions, strict=True)
    return max(float(np.abs(step(seen)[0] - expected).max()) for seen, expected in pairs)
