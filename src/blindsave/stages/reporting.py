"""The report of a study: tables, figures, replays of failures, one page."""

from dataclasses import replace

from blindsave import store
from blindsave.engine import Output, Task
from blindsave.stages.scales import PAPER, SCALES, Scale
from blindsave.stages.site import Site
from blindsave.stages.spent import spent

DATED = ("ledger", "files", "costs", "table-1", "claims")
"""Tables that name dates, hashes of dated files, or times measured on this machine."""


def report(scale: Scale) -> list[Task[Site]]:
    """Everything from episode tables."""
    return [Task("report", make_report, cost={"report": 1})]


def make_report(site: Site) -> Output:
    """Write the statement, record failures, build tables, figures and page."""
    from blindsave.report.build import build
    from blindsave.report.record import record_failures
    from blindsave.report.results import read_results
    from blindsave.verify.study import require_verified

    require_verified(site.folder)
    store.write_whole(site.results / "statement.md", statement(site.scale) + "\n")
    site.write_json("spent.json", {"spent": spent(site.work)})
    read = read_results(site.results)
    clean = {split: table for split, table in read.tables.items() if split != "noise_test"}
    record_failures(replace(read, tables=clean), load=lambda policy, seed: site.policy(policy, seed).policy)
    made = build(site.results, site.results / "report")
    files = [path for name, kinds in made.tables.items() if name not in DATED for path in kinds.values()]
    return Output(tuple(files), result={"page": str(made.page)})


def statement(scale: Scale) -> str:
    """What kind of study this is, in plain words; empty at paper scale."""
    if scale.name == PAPER.name:
        return ""
    preset = scale.name in SCALES
    kind = f"a {scale.name} study at reduced budgets" if preset else f'the study "{scale.name}" of a study file'
    size = (
        f"This is {kind}: {_count(len(scale.families), 'family', 'families')}, "
        f"{_count(len(scale.training_seeds), 'training seed', 'training seeds')}, {scale.base_episodes:,} base and "
        f"{scale.shadow_episodes:,} shadow episodes per family, at most {scale.epochs} epochs"
    )
    if _size(scale) == _size(PAPER):
        return f"{size}, as in the paper. {_opened(scale)}"
    differs = "so students may save less here, and intervals are wider" if preset else "so rates need not agree with it"
    paper = f"The paper's study has 7 families, 5 seeds, 20,000 and 20,000 episodes and 100 epochs, {differs}."
    return f"{size}. {paper} {_opened(scale)}"


def _size(scale: Scale) -> tuple[object, ...]:
    """What the paper's numbers depend on, beside the teacher."""
    episodes = (scale.base_episodes, scale.shadow_episodes, scale.epochs)
    return (*episodes, scale.families, scale.training_seeds, scale.training_conditions)


def _opened(scale: Scale) -> str:
    if scale.opens_principal_test:
        return "As its file asks, it opened the published principal test and noise shots."
    return (
        "The principal test was not opened: what is called the test, and the noise extension, are this study's own "
        "sealed shots, drawn after everything was frozen. Comparisons with the paper are therefore between different "
        "shots."
    )


def _count(number: int, one: str, more: str) -> str:
    return f"{number} {one if number == 1 else more}"
