"""Compile the three C extensions and pack what the package ships; pyproject.toml says everything else.

Without a working C compiler the package still installs, and runs slowly.
"""

import os
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
FLAGS = ["-O3", "-std=c11", "-fno-math-errno", "-fvisibility=hidden", "-Wall", "-Wextra"]
EXACT, FUSED = "-ffp-contract=off", "-ffp-contract=fast"
"""Policies have one arithmetic on every machine; training may fuse a*b+c."""
STABLE_ABI, OLDEST = [("Py_LIMITED_API", "0x030B0000")], "cp311"
"""One build serves this Python and every later one."""

SHIPPED = (
    "protocol.toml",
    *(f"models/{name}/**/*.safetensors" for name in ("teacher", "students", "ppo", "probes")),
    "results/*",
    *(f"results/{name}/**/*" for name in ("bench", "datasets", "efficiency", "memory", "noise", "ppo", "probe")),
    *(f"results/{name}/**/*" for name in ("teacher", "test", "validation")),
    "results/remember/*",
    "results/remember/horizon/protocol.toml",
)
"""What an installed package brings along, as it lies in the repository: plan, main models, published numbers.

Further teachers, their students and what can be drawn again stay in the repository.
"""
DRAWN = (".png", ".svg", ".mp4")


def mujoco_include() -> str:
    """Where the headers of the installed mujoco wheel are."""
    import mujoco

    return str(Path(mujoco.__file__).parent / "include")


def sources(*folders: str) -> list[str]:
    """Every C file of the given folders, in a fixed order."""
    return [str(p.relative_to(HERE)) for f in folders for p in sorted((HERE / "src/blindsave" / f).glob("*.c"))]


def shipped() -> list[str]:
    """Every file that goes into the package, by its path in the repository."""
    found = {path for pattern in SHIPPED for path in HERE.glob(pattern) if path.is_file()}
    return sorted(str(path.relative_to(HERE)) for path in found if path.suffix not in DRAWN)


class BuildWithShipped(build_py):
    """Copy what is shipped into the built package; a checkout, installed editable, is used where it lies."""

    def run(self):  # noqa: D102
        super().run()
        if not self.editable_mode:
            for source, target in self._shipped().items():
                self.mkpath(str(Path(target).parent))
                self.copy_file(source, target)

    def get_outputs(self, include_bytecode=True):  # noqa: D102
        shipped_too = [] if self.editable_mode else [*self._shipped().values()]
        return [*super().get_outputs(include_bytecode), *shipped_too]

    def _shipped(self) -> dict[str, str]:
        return {name: str(Path(self.build_lib) / "blindsave" / name) for name in shipped()}


class OptionalBuildExt(build_ext):
    """Build what can be built; a machine without a compiler gets the NumPy reference instead."""

    def build_extension(self, ext):  # noqa: D102
        if "arena" in ext.name:
            ext.include_dirs.append(mujoco_include())
            if sys.platform == "win32":  # elsewhere MuJoCo's symbols are found when the core is loaded
                ext.extra_objects += map(str, Path(mujoco_include()).parent.glob("mujoco.dll"))
        try:
            super().build_extension(ext)
        except Exception as error:  # any compiler failure means "no native core"
            if os.environ.get("BLINDSAVE_REQUIRE_NATIVE"):
                raise
            print(
                f"blindsave: {ext.name} was not compiled ({error}); the slow reference will be used",
                file=sys.stderr,
            )


setup(
    ext_modules=[
        Extension(
            name,
            sources=sources(*folders),
            include_dirs=["src/blindsave"],
            depends=[
                str(p.relative_to(HERE))
                for p in (HERE / "src/blindsave").rglob("*.[hi]*")
                if p.suffix in (".h", ".inc")
            ],
            define_macros=STABLE_ABI,
            extra_compile_args=[*FLAGS, contraction],
            py_limited_api=True,
        )
        for name, contraction, folders in (
            ("blindsave.arena._core", EXACT, ("arena/core", "task/core")),
            ("blindsave.policies._kernel", EXACT, ("policies/kernel",)),
            ("blindsave.learning._trainer", FUSED, ("learning/trainer_core",)),
        )
        if sources(*folders)
    ],
    cmdclass={"build_ext": OptionalBuildExt, "build_py": BuildWithShipped},
    options={"bdist_wheel": {"py_limited_api": OLDEST}},
)
