"""How JAX is set up: a cache where it is wanted, before or after JAX is imported."""

import os
import subprocess
import sys

import jax

from blindsave.learning.dreamer.runtime import SETTINGS, device, use_cache


def test_a_running_jax_is_told_where_to_keep_programs(tmp_path):
    before = {name: getattr(jax.config, name) for name in ("jax_compilation_cache_dir", *SETTINGS)}
    try:
        use_cache(tmp_path / "made" / "cache")
        assert jax.config.jax_compilation_cache_dir == str(tmp_path / "made" / "cache")
        assert (tmp_path / "made" / "cache").is_dir()
        assert {name: getattr(jax.config, name) for name in SETTINGS} == SETTINGS
    finally:
        for name, value in before.items():
            jax.config.update(name, value)


def test_before_jax_is_imported_the_environment_says_it_and_jax_stays_out(tmp_path):
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from blindsave.learning.dreamer.runtime import use_cache\n"
        "use_cache(Path(sys.argv[1]))\n"
        "assert 'jax' not in sys.modules\n"
        "print(os.environ['JAX_COMPILATION_CACHE_DIR'])\n"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    found = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "cache")], env=environment, capture_output=True, text=True
    )
    assert found.stdout.strip() == str(tmp_path / "cache"), found.stderr


def test_the_device_is_the_one_that_computes():
    found = device()
    assert found["platform"] == jax.default_backend()
    assert found["device"] == jax.devices()[0].device_kind and found["jax"] == jax.__version__
