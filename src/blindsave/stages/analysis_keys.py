"""The keys of a study file that speak of the analysis."""

from collections.abc import Sequence
from typing import Any

from blindsave.errors import BadInput
from blindsave.evidence.plan import KINDS, METHODS, Hypothesis
from blindsave.stages.questions import SETS, TEACHER, Pair, Questions
from blindsave.stages.scales import Scale
from blindsave.toml_values import Check, Section, Wrong, number, one_of, pairs, shown, table, tables, text, whole

ANALYSIS = ("reference", "margin_points", "method", "contrasts", "hypotheses")
"""The keys of this part."""
FIELDS = ("id", "statement", "kind", "a", "b", "split", "disturbance", "margin_points", "blackout")
LARGEST_MARGIN = 50
SAYS = {"superiority": "{a} saves more blind shots than {b}", "equivalence": "{a} saves as many blind shots as {b}"}


def read_questions(section: Section, scale: Scale) -> Questions | None:
    """What the file asks, checked against what its study plays; None where it names none of these keys."""
    if not set(ANALYSIS) & section.values.keys():
        return None
    return Questions(
        reference=_reference(section, scale),
        contrasts=_contrasts(section, scale),
        hypotheses=_hypotheses(section, scale),
        margin_points=section.get("margin_points", number(0.01, LARGEST_MARGIN)),
        method=section.get("method", one_of(METHODS)),
    )


def _reference(section: Section, scale: Scale) -> str | None:
    found = section.get("reference", text)
    if found is None:
        return None
    if found not in scale.families:
        raise BadInput(f"{section.where}: `reference` names `{found}`, which is not among the study's families")
    if "contrasts" in section.values:
        raise BadInput(f"{section.where}: `reference` changes nothing where [contrasts] names the differences")
    return found


def _contrasts(section: Section, scale: Scale) -> tuple[tuple[str, tuple[Pair, ...]], ...] | None:
    named = section.get("contrasts", table)
    if named is None:
        return None
    sets = Section(f"{section.where}, [contrasts]", named)
    sets.only(SETS, "set")
    if not named:
        raise BadInput(f"{sets.where}: name at least one set of {', '.join(SETS)}, or leave the table out")
    everybody = {*scale.families, TEACHER, *dict(scale.guests)}
    players = dict.fromkeys(SETS, everybody) | {"noise": set(scale.noisy)}
    return tuple((name, sets.get(name, _pairs(players[name], name)) or ()) for name in SETS if name in named)


def _pairs(players: set[str], set_: str) -> Check:
    """A list of pairs of policies that meet in this set."""

    def player(name: Any) -> str:
        if not isinstance(name, str) or name not in players:
            missing = "is not disturbed in this study" if set_ == "noise" else "does not take part in this study"
            raise Wrong(f"names {shown(name)}, which {missing}")
        return name

    def check(value: Any) -> tuple[Pair, ...]:
        found: tuple[Pair, ...] = pairs(player)(value)
        for place, (a, b) in enumerate(found):
            if a == b:
                raise Wrong(f"compares {shown(a)} with itself")
            if (a, b) in found[:place]:
                raise Wrong(f"names the pair of {shown(a)} and {shown(b)} twice")
        return found

    return check


def _hypotheses(section: Section, scale: Scale) -> tuple[Hypothesis, ...] | None:
    written = section.get("hypotheses", tables)
    if written is None:
        return None
    found: list[Hypothesis] = []
    for place, one in enumerate(written, 1):
        hypothesis = _hypothesis(Section(f"{section.where}, hypothesis {place}", one), scale)
        if hypothesis.id in (other.id for other in found):
            raise BadInput(f"{section.where}: two `hypotheses` have the `id` {shown(hypothesis.id)}")
        found.append(hypothesis)
    return tuple(found)


def _hypothesis(section: Section, scale: Scale) -> Hypothesis:
    section.only(FIELDS)
    players = one_of((*scale.families, TEACHER, *dict(scale.guests)))
    a, b = (section.get(name, players) for name in ("a", "b"))
    if a is None or b is None or a == b:
        raise BadInput(f"{section.where}: `a` and `b` must name the two policies that it compares")
    kind = section.get("kind", one_of(KINDS)) or KINDS[0]
    split, disturbance = (
        section.get("split", one_of((*scale.test_splits, "noise_test"))),
        section.get("disturbance", text),
    )
    if split == "noise_test":
        _check_noise(section, scale, {a, b}, disturbance)
    elif disturbance is not None:
        raise BadInput(f'{section.where}: `disturbance` belongs to split = "noise_test"')
    played = scale.noise_blackouts if split == "noise_test" else scale.test_blackouts
    return Hypothesis(
        id=section.get("id", text) or f"{a}-{b}",
        statement=section.get("statement", text) or SAYS[kind].format(a=a, b=b),
        kind=kind,
        a=a,
        b=b,
        split=split,
        disturbance=disturbance or "clean",
        margin_points=section.get("margin_points", number(0.01, LARGEST_MARGIN)),
        blackout=section.get("blackout", _length(played)),
    )


def _length(played: Sequence[int]) -> Check:
    """One of the lengths that are played."""

    def check(value: Any) -> int:
        found = whole(0)(value)
        if found not in played:
            raise Wrong(f"must be one of {', '.join(map(str, played))}, not {found}")
        return found

    return check


def _check_noise(section: Section, scale: Scale, pair: set[str], disturbance: str | None) -> None:
    """A hypothesis about noise needs both policies, the noise and the endpoint's length in the noise extension."""
    if disturbance not in scale.conditions:
        said = f"not {shown(disturbance)}" if disturbance else "and is missing"
        raise BadInput(f"{section.where}: `disturbance` must be one of {', '.join(scale.conditions) or 'none'}, {said}")
    if not pair <= set(scale.noisy):
        raise BadInput(
            f"{section.where}: `split` is the noise test, where {sorted(pair - set(scale.noisy))[0]} has no part"
        )
    if "blackout" not in section.values and scale.endpoint not in scale.noise_blackouts:
        raise BadInput(
            f"{section.where}: `split` is the noise test, which is not played at {scale.endpoint} hidden steps"
        )
