"""Print a program as an ONNX graph with explicit state: (observation, carry) to (action, carry_out)."""

from pathlib import Path
from typing import Any

import numpy as np

from blindsave import __version__
from blindsave.errors import BadInput
from blindsave.policies.arithmetic import ARITHMETIC
from blindsave.policies.native import ProgramPolicy
from blindsave.policies.program import Const, Op, Program, Slot
from blindsave.store import write_whole

OPSET = 17
IR_VERSION = 9
SIMPLE = {
    "tanh": "Tanh", "sigmoid": "Sigmoid", "exp": "Exp", "log": "Log", "sqrt": "Sqrt", "add": "Add", "sub": "Sub",
    "mul": "Mul", "div": "Div", "maximum": "Max", "minimum": "Min",
}  # fmt: skip


class _Graph:
    """Collects nodes; knows which ONNX value holds which stretch of the tape."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.nodes: list[Any] = []
        self.weights: dict[str, np.ndarray] = {}
        self.held: list[tuple[int, int, str]] = []  # (start, stop, value), in order of start

    def node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        from onnx import helper

        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def weight(self, array: Any, dtype: Any = np.float32) -> str:
        name = f"w{len(self.weights)}"
        self.weights[name] = np.ascontiguousarray(array, dtype=dtype)
        return name

    def write(self, slot: Slot, value: str) -> None:
        """The tape's stretch now holds this value; parts of older values that it covers are gone."""
        start, stop = slot.offset, slot.offset + slot.size
        kept = []
        for a, b, name in self.held:
            for x, y in ((a, min(b, start)), (max(a, stop), b)):
                if x < y:
                    kept.append((x, y, name if (x, y) == (a, b) else self._part(name, x - a, y - a)))
        self.held = sorted([*kept, (start, stop, value)])

    def read(self, arg: Slot | Const) -> str:
        """The value on a stretch of the tape, cut and joined as needed."""
        if isinstance(arg, Const):
            return self.weight(self.program.constants[arg.number])
        start, stop = arg.offset, arg.offset + arg.size
        parts = []
        for a, b, name in self.held:
            x, y = max(a, start), min(b, stop)
            if x < y:
                parts.append(name if (x, y) == (a, b) else self._part(name, x - a, y - a))
        return parts[0] if len(parts) == 1 else self.node("Concat", *parts, axis=1)

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
        x, weight, start = op.args
        assert isinstance(weight, Const)
        array = self.program.constants[weight.number]
        if array.ndim == 2:
            product = self.node("MatMul", self.read(x), self.weight(array.T))
        else:
            value, width = self.read(x), array.shape[2]
            blocks = [self._part(value, g * width, (g + 1) * width) for g in range(len(array))]
            maps = [self.node("MatMul", b, self.weight(w.T)) for b, w in zip(blocks, array, strict=True)]
            product = self.node("Concat", *maps, axis=1)
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
    graph.write(program.observation_in, "observation")
    if program.carry:
        graph.write(program.carry_in, "carry")
    for op in program.ops:
        graph.write(op.out, graph.emit(op))
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
        doc_string=f"{name}; canonical arithmetic {ARITHMETIC} (ONNX runtimes agree to about 1e-6, not in every bit)",
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
    try:
        import onnxruntime
    except ModuleNotFoundError:
        return None
    from blindsave.deploy.c_header import record

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    observations, _, actions = record(policy, steps)
    carry, worst = policy.initial(1), 0.0
    for observation, expected in zip(observations, actions, strict=True):
        feed = {"observation": observation[None]} | ({"carry": carry} if policy.program.carry else {})
        action, *rest = session.run(None, feed)
        carry = rest[0] if rest else carry
        worst = max(worst, float(np.abs(np.asarray(action)[0] - expected).max()))
    return worst
