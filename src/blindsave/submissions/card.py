"""The model card of a submission: what people read first, and where model hubs look for metadata.

Its results stand between two marks, and the endpoint in its metadata; both are those of the rows, and `check` refuses a
card that says anything else there. Everything around them is for the authors to edit.
"""

import json

import pyarrow as pa

from blindsave.evidence.freeze import SEALED_SPLIT
from blindsave.evidence.plan import Plan
from blindsave.evidence.release import save_rates
from blindsave.evidence.tables import of_split
from blindsave.submissions.layout import PRINCIPAL, Submission

BEGIN, END = "<!-- results: made from episodes.parquet -->", "<!-- end of results -->"
STEP_MS, METRIC = 20, "save_rate"
TITLES = {PRINCIPAL: "principal test", SEALED_SPLIT: "own sealed test"}


def card(made: Submission, table: pa.Table, plan: Plan) -> str:
    """A card to begin with."""
    about = made.about
    head = [
        "---",
        *([f"license: {json.dumps(about.license)}"] if about.license else []),
        "library_name: blindsave",
        "tags: [robotics, reinforcement-learning, policy-distillation, memory, air-hockey, blindsave]",
        "model-index:",
        f"- name: {json.dumps(about.title)}",
        "  results:",
        "  - task: {type: robotics, name: saving air-hockey shots that cannot be seen}",
        "    dataset: {type: blindsave, name: blindsave principal test}",
        f"    metrics: [{metric(made, table, plan)}]",
        "---",
    ]
    files = [model.file for model in made.models.values() if model.file]
    use = (
        "\n".join(["```python", "from blindsave import load", "", f'policy = load("{files[0]}")', "```"])
        if files
        else ""
    )
    said = [
        f"# {about.title}",
        about.description,
        f"By {about.authors}." if about.authors else "",
        about.link,
        "## Results",
        results(made, table),
        "## Use",
        use or f'`blindsave.load("{made.policy}")` gives it; it has no weights.',
        "`blindsave verify .` plays every row again and compares it bit by bit.",
    ]
    return "\n".join(head) + "\n\n" + "\n\n".join(part for part in said if part) + "\n"


def metric(made: Submission, table: pa.Table, plan: Plan) -> str:
    """The endpoint as model hubs read it."""
    cell = save_rates(of_split(table, PRINCIPAL))[made.policy][str(plan.blackout)]
    name = f"saves in % with the puck hidden for {STEP_MS * plan.blackout} ms"
    return f"{{type: {METRIC}, name: {name}, value: {100 * cell['saves'] / cell['shots']:.1f}}}"


def results(made: Submission, table: pa.Table) -> str:
    """The results, between their marks."""
    rows = {split: save_rates(of_split(table, split))[made.policy] for split in TITLES}
    lengths = list(rows[PRINCIPAL])
    lines = [
        f"Saves in %, by how long the puck is hidden; {made.policy}, {len(made.seeds)} training seed(s),"
        f" {made.weights:,} weights, {len(table):,} episodes.",
        "",
        f"| | {' | '.join(f'{STEP_MS * int(length)} ms' for length in lengths)} |",
        f"|---|{'---|' * len(lengths)}",
    ]
    for split, cells in rows.items():
        said = (f"{100 * cells[length]['saves'] / cells[length]['shots']:.1f}" for length in lengths)
        lines.append(f"| {TITLES[split]} | {' | '.join(said)} |")
    return "\n".join([BEGIN, *lines, END])
