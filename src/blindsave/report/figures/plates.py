"""The figures a results folder allows, in the order of the report."""

from blindsave.report.analysis import Analysis, SplitResult
from blindsave.report.figures.beside import draw_beside
from blindsave.report.figures.curves import draw_close, draw_full, draw_noise
from blindsave.report.figures.export import Panel, Plate
from blindsave.report.figures.forest import LARGE, SMALL, draw_forest
from blindsave.report.figures.frontier import draw_frontier
from blindsave.report.figures.memory import draw_memory
from blindsave.report.figures.task import draw_pair, draw_timeline
from blindsave.report.names import milliseconds

SIZE, SMALLER = (4.5, 3.5), (3.9, 3.1)
_PAIR = "Two shots from above that meet where tracking stops and end at opposite posts."


def plates(analysis: Analysis) -> list[Plate]:
    """Every figure for which there are results; the first two panels need none."""
    test = analysis.main
    found = [task_plate(analysis)]
    if test is not None and analysis.endpoint in test.saves.blackouts:
        found.append(behaviour_plate(analysis, test))
        cost = cost_plate(analysis, test)
        found += [] if cost is None else [cost]
    if analysis.noise is not None:
        found.append(noise_plate(analysis))
    if "principal_test" in analysis.splits and analysis.endpoint in analysis.splits["principal_test"].saves.blackouts:
        found.append(beside_plate(analysis, analysis.splits["principal_test"]))
    return found


def task_plate(analysis: Analysis) -> Plate:
    """Figure 1."""
    panels = [
        Panel("f1a", draw_pair, SIZE, _PAIR, page_size=(3.9, 2.5)),
        Panel(
            "f1b", draw_timeline, SIZE, "Time lines: the puck is seen for 100 ms, then hidden for 0 to 500 ms.", SMALLER
        ),
    ]
    if analysis.memory:
        alt = "Save rates of the teacher, of the teacher with erased state and of a memoryless policy, seen and hidden."
        panels.append(Panel("f1c", draw_memory(analysis), SIZE, alt, SMALLER))
    caption = (
        "(a) The two shots of a pair reach the same point when tracking stops, then go to opposite sides of the "
        "goal: only what was seen before tells them apart. (b) Tracking stops after 100 ms, and the policy keeps "
        "acting. 400 ms is the main comparison, 500 ms lies beyond training. (c) Save rates of the teacher, of the "
        "teacher whose state is erased when tracking stops, and of a policy without memory, on the same shots; bold: "
        "the paired difference and its 95 % interval."
    )
    return Plate("figure-1", "Why the task needs memory", caption, (tuple(panels),))


def behaviour_plate(analysis: Analysis, test: SplitResult) -> Plate:
    """Figure 3."""
    ms = milliseconds(analysis.endpoint)
    top = (
        Panel("f3a", draw_full(test), (4.5, 3.6), "Save rate falls with blackout length without memory, not with it."),
        Panel("f3b", draw_close(test), (4.5, 3.6), "All recurrent students stay close to the teacher up to 400 ms."),
    )
    rows: tuple[tuple[Panel, ...], ...] = (top,)
    if any({a, b} <= test.saves.saved.keys() for a, b in (*LARGE, *SMALL)):
        alt = f"Forest plot of paired save-rate differences at {ms} ms with 95 % intervals."
        rows = (top, (Panel("f3c", draw_forest(analysis, test), (9.0, 3.6), alt, page_size=(5.4, 4.2)),))
    caption = (
        "(a) Save rate by how long the puck is hidden. (b) The same, close up, for the policies with memory. Means "
        f"over training seeds with 95 % intervals; the teacher is one policy. (c) Paired differences at {ms} ms, ours "
        f"in colour, the paper's in grey below; the band is the equivalence margin of ±{100 * analysis.margin:g} "
        "points."
    )
    return Plate("figure-3", "Principal behavioural results", caption, rows)


def cost_plate(analysis: Analysis, test: SplitResult) -> Plate | None:
    """Figure 4; latency only where it was measured."""
    if not analysis.results.costs.families.keys() & test.saves.saved.keys():
        return None
    panels = []
    if analysis.results.costs.timed:
        alt = "Save rate at 400 ms over median latency, by family and training seed."
        panels.append(Panel("f4a", draw_frontier(analysis, test, "latency_us", "a"), (4.5, 3.9), alt))
    alt = "Save rate at 400 ms over number of parameters, by family and training seed."
    letter = "b" if panels else "a"
    panels.append(Panel("f4b", draw_frontier(analysis, test, "parameters", letter), (4.5, 3.9), alt))
    caption = (
        "Large symbols: family means; small ones: training seeds (spread a little where their cost is the same). The "
        "dashed line joins the families that no other beats in both cost and saves. The vertical scale is stretched "
        "near 100 %."
    )
    return Plate("figure-4", "What saves cost", caption, (tuple(panels),))


def noise_plate(analysis: Analysis) -> Plate:
    """The noise extension as a figure."""
    alt = "Save rates under 0, 1 and 5 mm of position noise, visible and hidden."
    panel = Panel("f5", draw_noise(analysis), (6.4, 3.7), alt, page_size=(5.0, 3.6))
    caption = "Save rates when every visible puck position carries Gaussian noise, without retraining; 95 % intervals."
    return Plate("figure-noise", "Noise on the puck's position", caption, ((panel,),))


def beside_plate(analysis: Analysis, test: SplitResult) -> Plate:
    """Paper and ours at the endpoint."""
    alt = "Save rates at 400 ms: ours in colour and the paper's in grey, with 95 % intervals."
    panel = Panel("f6", draw_beside(analysis, test), (6.4, 3.9), alt, page_size=(4.9, 3.7))
    caption = "Save rates on the principal test with 95 % intervals; the paper gives the teacher as a point."
    return Plate("figure-paper-versus-ours", "Paper versus ours", caption, ((panel,),))
