"""Every option of every command with hostile values: one sentence and exit status 2, or a clean success.

Nothing may be a traceback, hang, or be written outside the folder the commands run in. What would take long is replaced
by `Reached`: the options were found good, and the work would begin.
"""

import contextlib
import dataclasses
import importlib
import os
import pkgutil
import shutil
import signal
import sys
import traceback
import typing
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import blindsave
from blindsave import cli
from blindsave.cli.parsing import parse
from blindsave.cli.targets import Target
from blindsave.evidence import tables

pytest.importorskip("jax")
REPOSITORY = Path(__file__).parents[2]
MOST_WORK_S, LONGEST_S = 5, 120
"""Processor time in which a command finds out what is wrong, however busy the machine; and when it waits for ever."""

NUMBERS = (
    "nan",
    "inf",
    "-inf",
    "-1",
    "0",
    "1.5",
    "x",
    "",
    "9" * 5000,
    "1e999",
    "99999999999999999999",
    "½",
    "١٢",
    "\ud800",
)
PATHS = (
    "",
    "/proc/nowhere/x.png",
    "regular/below.png",
    "dangling",
    "dangling/x.png",
    "x" * 300 + ".png",
    "/".join(["deep"] * 2000) + ".png",
    "/dev/null",
    "folder.png",
    "regular",
)
WORDS = (
    "",
    "nan",
    "-1",
    "../../x-v0",
    "/etc/passwd",
    "x" * 100_000,
    "日本/1",
    "\ud800",
    "a\nb",
    "0,,1",
    "1e999",
    "[" * 5000,
    "{}",
)
VALUES: dict[typing.Any, tuple[str, ...]] = {int: NUMBERS, float: NUMBERS, Path: PATHS, str: WORDS, bool: ("maybe",)}
ALWAYS_WRONG = {
    int: {*NUMBERS} - {"0"},
    float: {*NUMBERS} - {"0", "1.5"},
    bool: {"maybe"},
    "file": {*PATHS} - {"regular"},
    "folder": {*PATHS} - {"folder.png"},
}
"""What no option may take that wants such a value, or writes there."""

ENOUGH: dict[str, list[str]] = {
    "render": ["--out", "x.png"],
    "evaluate": ["inactive"],
    "verify": ["nowhere"],
    "report": ["--results", "nowhere"],
    "status": ["nowhere"],
    "stats": ["table.parquet", "--plan", str(REPOSITORY / "protocol.toml"), "--replicates", "20"],
    "power": ["table.parquet"],
    "study": ["--scale", "smoke"],
    "export": ["feed_forward/14303"],
    "replay": ["none.npz", "--out", "x.npz"],
    "dataset info": ["nowhere"],
    "dataset verify": ["nowhere"],
    "dataset export": ["nowhere", "--out", "out"],
    "distil curves": ["none.jsonl", "--out", "x.png"],
    "teacher belief": ["none.safetensors", "--out", "x.png"],
    "play": ["--no-browser", "--seconds", "1"],
}
"""What a command needs in order to get as far as its work; others get something for whatever they cannot do without."""

WORK = (
    "blindsave.play.server:_listen",
    "blindsave.cli.render:_play",
    "blindsave.evidence.grid:grid",
    "blindsave.cli.study:run_study",
    "blindsave.engine.workers:Workers.run",
    "blindsave.engine.ray_engine:RayEngine",
    "blindsave.verify:verify",
    "blindsave.evidence.memory_stage:MemoryStage.run",
    "blindsave.evidence.memory_stage:MemoryStage.evaluate",
    "blindsave.diagnostics.swap:swaps",
    "blindsave.cli.play:Probe._fit",
    "blindsave.learning.dreamer.trainer:Trainer",
    "blindsave.learning.dreamer.defend_stream:DefendStream",
    "blindsave.learning.distil.workshop:open_pipeline",
    "blindsave.learning.distil.workshop:_side_by_side",
    "blindsave.learning.ppo:train",
    "blindsave.learning.rivals:tune",
    "blindsave.learning.distil.packing:ship",
    "blindsave.learning.distil.packing:pack",
    "blindsave.cli.students:Export._c",
    "blindsave.cli.students:Export._onnx",
    "blindsave.deploy.calibration:recorded",
    "blindsave.deploy.integer_saves:compare",
    "blindsave.drive.sources:build",
    "blindsave.drive:Robot",
    "blindsave.evidence.calibrate:calibrate",
    "blindsave.task.audit:audit",
    "blindsave.bench.sim:bench",
    "blindsave.bench.evaluation:bench_evaluate",
    "blindsave.bench.teacher:bench",
    "blindsave.bench.students:bench",
    "blindsave.bench.coverage:describe",
    "blindsave.bench.precision:in_both",
    "blindsave.bench.latency:measure",
    "blindsave.stages.bench:measure_rates",
    "blindsave.stages.scaling:bench_scaling",
    "blindsave.stages.resilience:kill_and_compare",
    "blindsave.stages.resilience:engines_and_compare",
    "blindsave.learning.remember.lessons:base",
)


class Reached(BaseException):
    """The options were good, and the work would begin."""


class Hangs(BaseException):
    """A command took too long to find out what is wrong."""


def reached(*args, **options):
    raise Reached


@pytest.fixture(scope="module")
def small_table(tmp_path_factory) -> Path:
    """Two policies on the visible shots and the longest blackout, of the published table."""
    whole = tables.read(REPOSITORY / "results" / "test" / "principal_test.parquet")
    chosen = pc.and_(
        pc.is_in(whole["policy"].cast(pa.string()), pa.array(["gru_n64", "structured_k0"])),
        pc.is_in(whole["blackout"].cast(pa.int64()), pa.array([0, 20])),
    )
    return tables.write(whole.filter(chosen), tmp_path_factory.mktemp("table") / "small.parquet")


@pytest.fixture(scope="module")
def everything() -> dict[str, ModuleType | None]:
    """Every module: one imported while another's work is replaced would keep the replacement for good."""
    found: dict[str, ModuleType | None] = {}
    for one in pkgutil.walk_packages(blindsave.__path__, "blindsave."):
        if not one.name.rpartition(".")[2].startswith("_"):  # compiled parts are loaded by their own modules
            try:
                found[one.name] = importlib.import_module(one.name)
            except ModuleNotFoundError:
                found[one.name] = None
    return found


@pytest.fixture
def alone(tmp_path, monkeypatch, small_table, everything) -> Path:
    """A folder to run in, with things in it that look like targets and are none, and work that never begins."""
    for target in WORK:
        module, _, name = target.partition(":")
        holder = everything[module]
        if holder is None:  # of an extra that is not installed: nothing can begin there
            continue
        *outer, last = name.split(".")
        for part in outer:
            holder = getattr(holder, part)
        monkeypatch.setattr(holder, last, reached)
    here = tmp_path / "a" / "b"
    here.mkdir(parents=True)
    (here / "regular").write_text("a file")
    (here / "folder.png").mkdir()
    (here / "table.parquet").symlink_to(small_table)
    (here / "dangling").symlink_to(here / "nothing")
    monkeypatch.chdir(here)
    return here


def options_of(name: str) -> Iterator[tuple[str, bool, type, str | None]]:
    """Flag, whether it is positional, the type of its values, and what is written there."""
    module, _, kind = cli.COMMANDS[name].path.partition(":")
    command = getattr(importlib.import_module(module), kind)
    hints = typing.get_type_hints(command, include_extras=True)
    for field in dataclasses.fields(command):
        hint, positional, flag, target = hints[field.name], False, field.name, None
        while typing.get_origin(hint) is not None and typing.get_origin(hint) is not typing.Literal:
            for mark in getattr(hint, "__metadata__", ()):
                flag = getattr(mark, "name", None) or flag
                positional |= "Positional" in repr(mark)
                target = mark.kind if isinstance(mark, Target) else target
            inner = [one for one in typing.get_args(hint) if one is not type(None)]
            hint = inner[0]
        yield f"--{flag.replace('_', '-')}", positional, str if typing.get_origin(hint) else hint, target


def enough_of(name: str) -> list[str]:
    """Words that a command cannot do without, the positional ones first."""
    if name in ENOUGH:
        return ENOUGH[name]
    module, _, kind = cli.COMMANDS[name].path.partition(":")
    fields = dataclasses.fields(getattr(importlib.import_module(module), kind))
    first, rest = [], []
    for field, (flag, positional, wanted, target) in zip(fields, options_of(name), strict=True):
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            value = {"file": "x.png", "folder": "out"}.get(target or "") or {Path: "nowhere", str: "x"}.get(wanted, "1")
            first, rest = ([*first, value], rest) if positional else (first, [*rest, flag, value])
    return first + rest


def lines_of(name: str) -> Iterator[tuple[list[str], bool]]:
    """Command lines, and whether they must be refused."""
    enough = enough_of(name)
    for flag, positional, kind, target in options_of(name):
        for value in VALUES[kind]:
            words = [value, *enough[1:]] if positional else [*enough, f"{flag}={value}"]
            yield [*name.split(), *words], value in ALWAYS_WRONG.get(target or kind, ())


CLOCKS = ((signal.ITIMER_PROF, signal.SIGPROF), (signal.ITIMER_REAL, signal.SIGALRM))


@contextlib.contextmanager
def at_most(*seconds: float) -> Iterator[None]:
    """No more than so much processor time, and so much time, or `Hangs`."""

    def ring(number, frame):
        raise Hangs

    before = [signal.signal(number, ring) for _, number in CLOCKS]
    for (clock, _), limit in zip(CLOCKS, seconds, strict=True):
        signal.setitimer(clock, limit)
    try:
        yield
    finally:
        for (clock, number), handler in zip(CLOCKS, before, strict=True):
            signal.setitimer(clock, 0)
            signal.signal(number, handler)


def outcome(words: list[str]) -> int | str | None:
    """How a command line ended: its exit status, or what else happened."""
    sys.argv = ["blindsave", *words]
    try:
        with at_most(MOST_WORK_S, LONGEST_S):
            cli.main()
    except SystemExit as stopped:
        return stopped.code
    except Reached:
        return "reached"
    except Hangs:
        return "hangs"
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return f"{error!r:.200} in {frame.filename}:{frame.lineno}"
    return 0


def entries(*folders: Path) -> set[str]:
    return {entry.path for folder in folders for entry in os.scandir(folder)}


@pytest.mark.parametrize("name", list(cli.COMMANDS))
def test_hostile_values_give_one_sentence_before_any_work(name, alone, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [])
    around = (tmp_path, tmp_path / "a", REPOSITORY, REPOSITORY / "results", REPOSITORY / "models", Path("/"))
    before, kept = entries(*around), entries(alone)
    offences = []
    for words, must_fail in lines_of(name):
        status = outcome(words)
        said = capsys.readouterr().err
        refused = status == 2 and said.startswith("blindsave: ") and said.count("\n") == 1 and len(said) < 1000
        if not refused and (must_fail or status not in (0, "reached")):
            offences.append((" ".join(words)[:100], status, said[-300:]))
        for path in entries(alone) - kept:
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
    assert not offences
    assert entries(*around) == before


@pytest.mark.parametrize("name", list(cli.COMMANDS))
def test_the_rest_of_a_fuzzed_line_is_sound(name):
    """Otherwise every value would be refused for want of another one."""
    module, _, kind = cli.COMMANDS[name].path.partition(":")
    parse(getattr(importlib.import_module(module), kind), name, enough_of(name))


def test_every_option_of_every_command_gets_hostile_values():
    for name in cli.COMMANDS:
        tried = {word.partition("=")[0] for words, _ in lines_of(name) for word in words if word.startswith("--")}
        assert {flag for flag, positional, *_ in options_of(name) if not positional} <= tried


def test_work_without_end_and_waiting_without_end_both_count_as_hanging():
    with pytest.raises(Hangs), at_most(0.05, LONGEST_S):
        while True:
            pass
    with pytest.raises(Hangs), at_most(MOST_WORK_S, 0.05):
        signal.pause()


def test_there_are_more_than_a_thousand_lines():
    assert sum(1 for name in cli.COMMANDS for _ in lines_of(name)) > 1000
