"""The command line: parse, call, print.

Every command is a frozen dataclass in a module of this folder: its fields are the options, `run` returns what `--json`
prints, and `show` prints it for people (without one, the values are listed).
"""

import importlib
import json
import sys
from typing import NamedTuple

from blindsave.errors import BlindsaveError


class Command(NamedTuple):
    """Where a command lives (imported only when it is used) and what it is for."""

    path: str
    summary: str


GROUPS: dict[str, dict[str, Command]] = {
    "try": {
        "play": Command("blindsave.cli.play:Play", "open the live arena in a browser"),
        "render": Command("blindsave.cli.render:Render", "draw an episode as a film or a picture"),
        "conditions": Command("blindsave.cli.task:ListConditions", "list what may go wrong in an episode, and how"),
        "shots": Command("blindsave.cli.task:Shots", "list the shots of a split"),
        "families": Command("blindsave.cli.students:Families", "sizes and costs of the student families"),
    },
    "study": {
        "study": Command("blindsave.cli.study:Study", "run the whole study, from shots to report"),
        "status": Command("blindsave.cli.study:Status", "show the progress of a study"),
        "report": Command("blindsave.cli.report:Report", "rebuild every table, figure and the page from results"),
        "verify": Command("blindsave.cli.verify:Verify", "check a study's evidence, file by file and row by row"),
    },
    "evaluate": {
        "evaluate": Command("blindsave.cli.evidence:Evaluate", "evaluate policies on a paired grid of episodes"),
        "stats": Command("blindsave.cli.evidence:Stats", "intervals and planned differences of an episode table"),
        "rivals figure": Command("blindsave.cli.rivals:Figure", "draw save rates of policies by noise level"),
        "power": Command("blindsave.cli.evidence:PowerCommand", "shots and seeds needed to resolve a difference"),
        "memory-test": Command("blindsave.cli.memory:MemoryTest", "test whether the task needs memory"),
        "remember curves": Command(
            "blindsave.cli.remember:Curves", "how long policies remember, from an episode table"
        ),
        "remember figure": Command("blindsave.cli.remember:Figure", "draw how long the reference cores remember"),
        "remember copying": Command("blindsave.cli.remember:Copying", "find out who copies its last request"),
        "remember notebook": Command(
            "blindsave.cli.remember:Notebook", "find out whether memory or arm holds the side"
        ),
        "memory-swap": Command("blindsave.cli.swap:MemorySwap", "find out which remembers, the network or the arm"),
        "probe": Command("blindsave.cli.play:Probe", "read the hidden puck from what a policy remembers"),
        "freeze": Command("blindsave.cli.seal:Freeze", "bind plan, models, data and code into one manifest"),
        "release": Command("blindsave.cli.seal:Release", "open the test exactly once"),
    },
    "compare": {
        "benchmark": Command("blindsave.cli.benchmark:Benchmark", "measure a memory core beside reference cores"),
        "submit": Command("blindsave.cli.submissions:Submit", "pack a policy with its plan and rows, to be compared"),
        "leaderboard": Command("blindsave.cli.submissions:Leaderboard", "rank the submissions that verify"),
    },
    "train": {
        "teacher train": Command("blindsave.cli.teacher:Train", "train the teacher, or continue training"),
        "teacher validate": Command("blindsave.cli.teacher:Validate", "evaluate a run's checkpoints, name the winner"),
        "teacher freeze": Command("blindsave.cli.teacher:Freeze", "make the selected checkpoint the teacher"),
        "teacher info": Command("blindsave.cli.teacher:Info", "summarise a training run"),
        "teacher curve": Command("blindsave.cli.teacher:Curve", "draw a run's learning curve"),
        "teacher belief": Command(
            "blindsave.cli.teacher:Belief", "draw what the world model believes about a hidden puck"
        ),
        "teacher fingerprint": Command("blindsave.cli.fingerprint:Fingerprint", "tell teachers apart, side by side"),
        "distil students": Command(
            "blindsave.cli.distil:DistilStudents", "train students from the teacher, both stages"
        ),
        "distil pilot": Command("blindsave.cli.distil:DistilPilot", "measure the effect of the shadow correction"),
        "distil curves": Command("blindsave.cli.distil:DistilCurves", "draw learning curves of students"),
        "distil pack": Command("blindsave.cli.distil:DistilPack", "put students into an archive for another machine"),
        "distil ship": Command("blindsave.cli.distil:DistilShip", "copy finals to the models folder"),
        "dataset info": Command("blindsave.cli.distil:DatasetInfo", "describe an episode dataset"),
        "dataset verify": Command("blindsave.cli.distil:DatasetVerify", "check every byte and rule of a dataset"),
        "rivals tune": Command("blindsave.cli.rivals:Tune", "tune the classical rivals on train shots"),
        "remember train": Command("blindsave.cli.remember:Train", "train the students of the memory-horizon plan"),
        "ppo train": Command("blindsave.cli.memory:PPOTrain", "train the memoryless control"),
        "ppo evaluate": Command("blindsave.cli.memory:PPOEvaluate", "select and evaluate the memoryless control"),
    },
    "deploy": {
        "export": Command("blindsave.cli.students:Export", "write a policy as C, with a loop, or as an ONNX graph"),
        "drive": Command("blindsave.cli.robot:Drive", "run a policy against a robot over UDP"),
        "robot": Command("blindsave.cli.robot:RobotCommand", "let the arena be the robot that `drive` drives"),
        "dataset export": Command("blindsave.cli.distil:DatasetExport", "write a dataset in Minari's format"),
    },
    "measure": {
        "calibrate": Command("blindsave.cli.task:Calibrate", "measure how hard the task is for three simple rules"),
        "audit": Command("blindsave.cli.task:Audit", "check that alias shots look alike when the puck is lost"),
        "remember audit": Command("blindsave.cli.remember:Audit", "check the memory task at every stop of its dial"),
        "replay": Command("blindsave.cli.arena:Replay", "run recorded actions through the bare arena"),
        "bench sim": Command("blindsave.cli.arena:BenchSim", "measure the simulation speed"),
        "bench evaluate": Command("blindsave.cli.evidence:BenchEvaluate", "time an evaluation against bare simulation"),
        "bench latency": Command("blindsave.cli.students:BenchLatency", "time one policy step in several runtimes"),
        "bench integers": Command("blindsave.cli.boards:BenchIntegers", "compare policies in whole numbers with float"),
        "bench drive": Command("blindsave.cli.robot:BenchDrive", "strain the loop: a million ticks, every fault"),
        "bench board": Command("blindsave.cli.boards:BenchBoard", "run policies on emulated microcontrollers"),
        "bench train": Command("blindsave.cli.teacher:BenchTrain", "measure the training speed"),
        "bench precision": Command(
            "blindsave.cli.precision:BenchPrecision", "play teachers in float32 and in bfloat16"
        ),
        "bench coverage": Command("blindsave.cli.evidence:BenchCoverage", "check the coverage of the intervals"),
        "bench small-studies": Command(
            "blindsave.cli.small_studies:BenchSmallStudies", "draw small studies from a large one"
        ),
        "bench study": Command("blindsave.cli.study:BenchStudy", "estimate what a study costs on this machine"),
        "bench resume": Command("blindsave.cli.resilience:BenchResume", "kill and resume a study, compare its results"),
        "bench engines": Command(
            "blindsave.cli.resilience:BenchEngines", "run one study on every engine and compare the bytes"
        ),
    },
}
"""Every command, by what people want to do."""

COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}

EXTRAS = {
    "jax": "train",
    "optax": "train",
    "stable_baselines3": "ppo",
    "torch": "ppo",
    "matplotlib": "report",
    "imageio_ffmpeg": "report",
    "PIL": "report",
    "onnx": "export",
    "onnxruntime": "export",
    "minari": "export",
    "ray": "cluster",
}

LONGEST_LINE = 800
"""Letters of a sentence about a mistake; what is in the middle is left out."""


def overview() -> str:
    """Return the text of `blindsave --help`."""
    width = max(map(len, COMMANDS))
    rows: list[str] = []
    for group, commands in GROUPS.items():
        rows += ["", f"{group}:", *(f"  {name:<{width}}  {one.summary}" for name, one in commands.items())]
    return "\n".join(
        [
            "usage: blindsave COMMAND [options]",
            "",
            "A robot goalkeeper that saves air-hockey shots it cannot see.",
            "",
            *rows[1:],
            "",
            "`blindsave COMMAND --help` explains one command; every command takes --json.",
        ]
    )


def split(args: list[str]) -> tuple[str, list[str]]:
    """Separate the command's one or two words from its own arguments."""
    for words in (2, 1):
        name = " ".join(args[:words])
        if len(args) >= words and name in COMMANDS:
            return name, args[words:]
    group = [name for name in COMMANDS if args and name.startswith(args[0] + " ")]
    if group:
        raise BlindsaveError(f"`{args[0]}` needs one of: {', '.join(name.split()[1] for name in group)}")
    raise BlindsaveError(f"there is no command `{args[0]}`; `blindsave --help` lists them")


def execute(args: list[str]) -> None:
    """Run one command line; errors are exceptions here, sentences in `main`."""
    from blindsave.cli.parsing import parse
    from blindsave.cli.targets import refuse_unwritable_options
    from blindsave.plugins import add_plugins

    name, rest = split(args)
    module, _, cls = COMMANDS[name].path.partition(":")
    kind = getattr(importlib.import_module(module), cls)
    command = parse(kind, name, rest)
    add_plugins(command.plugin)
    refuse_unwritable_options(command, kind)
    result = command.run()
    if command.json:
        json.dump(result, sys.stdout, allow_nan=False)
        sys.stdout.write("\n")
    elif hasattr(command, "show"):
        command.show(result)
    else:
        from blindsave.cli.shared import print_facts

        print_facts(f"blindsave {name}", result)
    if isinstance(result, dict) and result.get("ok") is False:
        sys.exit(1)


def main() -> None:
    """Entry point of the `blindsave` command."""
    args = sys.argv[1:]
    if not args or args[0] in ("-h", "--help"):
        print(overview())
        return
    if args[0] == "--version":
        from blindsave import __version__

        print(f"blindsave {__version__}")
        return
    try:
        execute(args)
    except BlindsaveError as error:
        sys.exit(_complain(str(error)))
    except ModuleNotFoundError as error:
        extra = EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        sys.exit(_complain(f"this command needs {error.name}: pip install 'blindsave[{extra}]'"))
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        sys.exit(_complain(f"{place}{error.strerror or error}"))
    except MemoryError:
        sys.exit(_complain("this needs more memory than there is"))
    except KeyboardInterrupt:
        _complain("interrupted")
        sys.exit(130)


def _complain(sentence: str) -> int:
    """Print one line, whatever a path or a name in it holds."""
    line = " ".join(sentence.split()).encode("utf-8", "backslashreplace").decode()
    if len(line) > LONGEST_LINE:
        line = f"{line[: LONGEST_LINE // 2]} ... {line[-LONGEST_LINE // 2 :]}"
    print(f"blindsave: {line}", file=sys.stderr)
    return 2
