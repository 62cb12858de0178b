"""Running a policy needs neither JAX nor the compiled kernel."""

import os
import subprocess
import sys

RUN = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("jax", "onnx", "torch", "matplotlib") or name == {absent!r}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Absent())
import numpy as np
from blindsave import policies
from blindsave.deploy.c_header import header_text
from blindsave.policies.students import families
from blindsave.policies.students.student import Student
for name in families():
    student = Student.untrained(name, 14303)
    carry, action = student.initial(2), None
    for step in range(3):
        carry, action = student.step(carry, np.full((2, 19), 0.1 * step, np.float32))
    assert student.session().step(np.zeros(19, np.float32)).shape == (2,)
    assert (student.native is None) == {reference}
    print(name, carry.tobytes().hex(), action.tobytes().hex(), len(header_text(student.program, name)))
assert "jax" not in sys.modules
"""


def run(absent: str, reference: bool) -> subprocess.CompletedProcess:
    code = RUN.format(absent=absent, reference=reference)
    environment = {k: v for k, v in os.environ.items() if k != "BLINDSAVE_KERNEL"}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)


def test_policies_run_without_jax_and_without_the_kernel_with_equal_bits_and_one_line_of_warning():
    fast, slow = run("nothing", False), run("blindsave.policies._kernel", True)
    assert fast.returncode == 0 and fast.stderr == "", fast.stderr
    assert slow.returncode == 0, slow.stderr
    assert slow.stdout == fast.stdout
    assert len(slow.stderr.splitlines()) == 1 and "not compiled" in slow.stderr
