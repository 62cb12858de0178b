"""Compile the three C extensions; without a working C compiler the package still installs and runs slowly."""

import os
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = Path(__file__).parent
FLAGS = ["-O3", "-std=c11", "-fno-math-errno", "-fvisibility=hidden", "-Wall", "-Wextra"]
EXACT, FUSED = "-ffp-contract=off", "-ffp-contract=fast"
"""Policies have one arithmetic on every machine; training may fuse a*b+c."""
STABLE_ABI = [("Py_LIMITED_API", "0x030B0000")]


def mujoco_include() -> str:
    """Where the headers of the installed mujoco wheel are."""
    import mujoco

    return str(Path(mujoco.__file__).parent / "include")


def sources(*folders: str) -> list[str]:
    """Every C file of the given folders, in a fixed order."""
    return [str(p.relative_to(HERE)) for f in folders for p in sorted((HERE / "src/blindsave" / f).glob("*.c"))]


class OptionalBuildExt(build_ext):
    """Build what can be built; a machine without a compiler gets the NumPy reference instead."""

    def build_extension(self, ext):  # noqa: D102
        if "arena" in ext.name:
            ext.include_dirs.append(mujoco_include())
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
    cmdclass={"build_ext": OptionalBuildExt},
)
