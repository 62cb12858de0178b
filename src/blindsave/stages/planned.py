"""A plan as a study: whoever has written a plan in full (`protocol.toml` is one) can run it as it stands."""

from dataclasses import replace

from blindsave.errors import BadInput
from blindsave.evidence.plan import Plan
from blindsave.stages.questions import Questions
from blindsave.stages.scales import TEST_SPLITS, Scale

NOISE = "noise_test"


def planned_scale(plan: Plan, preset: Scale) -> Scale:
    """What a plan asks for, at the budgets of a preset; what a study cannot play is a `BadInput`."""
    tests = [split for split in TEST_SPLITS if split in plan.grids]
    unknown = set(plan.grids) - {*TEST_SPLITS, NOISE, "validation"}
    if unknown or not tests or tuple(plan.splits) != tuple(split for split in tests if split in plan.splits):
        raise BadInput(f"{plan.path}: a study plays {', '.join(TEST_SPLITS)} and {NOISE}, not {sorted(plan.grids)}")
    lengths = {plan.grids[split].blackouts for split in tests}
    if len(lengths) > 1 or any(plan.grids[split].conditions != ("clean",) for split in tests):
        raise BadInput(f"{plan.path}: all tests of a study are clean and have the same blackouts")
    noise = plan.grids.get(NOISE)
    changes = {
        "name": preset.name,
        "families": plan.families,
        "training_seeds": plan.training_seeds,
        "test_splits": plan.splits,
        "test_blackouts": lengths.pop(),
        "validation_blackouts": plan.grids["validation"].blackouts if "validation" in plan.grids else (plan.blackout,),
        "conditions": noise.conditions if noise else (),
        "noise_blackouts": noise.blackouts if noise else (),
        "noise_policies": (noise.policies or (*plan.families, plan.reference)) if noise else (),
    }
    scale = replace(preset, **changes)
    if scale.endpoint != plan.blackout:
        scale = replace(scale, endpoint_blackout=plan.blackout)
    if plan.figures:
        scale = replace(scale, figures=plan.figures)
    if scale == preset:
        return preset
    asked = Questions(
        contrasts=tuple(plan.contrasts.items()),
        hypotheses=plan.hypotheses,
        margin_points=100 * plan.margin,
        method=plan.method,
    )
    return replace(scale, name=plan.path.stem, questions=asked)
