"""The summary of a study that asks its own questions: who saved most, what differs, what size did, what noise did."""

from blindsave.draw.family_names import core_title, sizes_by_core
from blindsave.evidence.intervals import Contrast
from blindsave.report.analysis import Analysis, SplitResult, percent
from blindsave.report.names import TEACHER, level, milliseconds, ordered, split_title, title, under

LISTED = 5
"""So many families are named with their rates; of more, the best and the worst."""
SENTENCES = 4
"""So many differences get a sentence each."""


def asks_its_own(test: SplitResult) -> bool:
    """Whether the paper's sentences do not fit: other families, or other differences than the paper's."""
    return not test.asks_the_papers_questions or not test.contrasts.get("primary")


def setting(analysis: Analysis, test: SplitResult) -> str:
    """Where rates were found, as the beginning of a sentence."""
    where, shots = split_title(test.split), len(test.saves.shot_ids)
    return f"With the puck hidden for {milliseconds(analysis.endpoint)} ms ({where}, {shots} shots)"


def rates(analysis: Analysis, test: SplitResult) -> str:
    """The best family, the others behind it, and the teacher."""
    found = {name: percent(test.principal.rate(name, analysis.endpoint)) for name in ordered(test.saves.saved)}
    students = sorted((name for name in found if name != TEACHER), key=lambda name: -found[name].value)
    teacher = f"the teacher saved {found[TEACHER].point} %" if TEACHER in found else ""
    if not students:
        return f"{setting(analysis, test)}, {teacher}."
    words = [f"{title(name)}: {found[name].point} %" for name in students]
    if len(students) == 1:
        said = f"{title(students[0])} saved {found[students[0]].point} %"
    elif len(students) <= LISTED:
        said = f"{title(students[0])} saved most ({found[students[0]].point} %; {'; '.join(words[1:])})"
    else:
        said = f"{title(students[0])} saved most of {len(students)} families ({found[students[0]].point} %)"
        said += f" and {title(students[-1])} least ({found[students[-1]].point} %)"
    return f"{setting(analysis, test)}, {said}{'; ' if teacher else ''}{teacher}."


def differences(analysis: Analysis, test: SplitResult) -> list[str]:
    """What the planned differences show: against one reference in one sentence, else one each."""
    if analysis.endpoint not in test.saves.blackouts:
        return []
    main = list(test.contrasts.get("primary") or test.differences())
    said = []
    if len({c.b for c in main}) == 1 and len(main) > 1:
        said.append(_against(main, f"±{100 * analysis.margin:g} points"))
    else:
        said += [f"{_one(c)}." for c in main[:SENTENCES]]
    return said + _sizes(analysis, test)


def noise(analysis: Analysis) -> list[str]:
    """The planned differences under the strongest level of every fault, at the endpoint."""
    found = analysis.noise
    if found is None or analysis.endpoint not in found.saves.blackouts:
        return []
    strongest: dict[str, tuple[float, str]] = {}
    for d in found.saves.disturbances:
        if d != "clean":
            fault, amount, _ = level(d) or (d, 0.0, "")
            strongest[fault] = max(strongest.get(fault, (amount, d)), (amount, d))
    pairs = [(a, b) for a, b in analysis.pairs("noise") if {a, b} <= found.saves.saved.keys()]
    at = f"at {milliseconds(analysis.endpoint)} ms"
    said = [
        f"Under {'5 mm of tracking noise' if kind == 'noise_5mm' else under(kind)} "
        f"{_one(found.rates.difference('all', a, b, analysis.endpoint, kind))} {at}."
        for _, kind in strongest.values()
        for a, b in pairs[:SENTENCES]
    ]
    return said[:SENTENCES]


def listed(parts: list[str]) -> str:
    """Words in a row: a, b and c."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _one(c: Contrast) -> str:
    number = percent(c, True)
    how = "saved clearly more than" if c.low > 0 else "saved clearly less than" if c.high < 0 else ""
    how = how or "did not differ clearly from"
    return f"{title(c.a)} {how} {title(c.b)} ({number.point} points {number.span})"


def _against(members: list[Contrast], margin: str) -> str:
    """All comparisons with one reference."""
    more, less = [c for c in members if c.low > 0], [c for c in members if c.high < 0]
    rest = [c for c in members if c not in more and c not in less]
    kinds = ((more, "clearly more saves by"), (less, "clearly fewer saves by"), (rest, "no clear difference for"))
    parts = [f"{words} {_named(some)}" for some, words in kinds if some]
    equal = sum(c.equivalence.equivalent for c in members)
    first = f"Against {title(members[0].b)}: {'; '.join(parts)}."
    return f"{first} {equal} of {len(members)} were shown to be equivalent to it within {margin}."


def _named(members: list[Contrast]) -> str:
    """The families of comparisons with their differences, or only how many there are."""
    if len(members) > LISTED:
        return f"{len(members)} families"
    return listed([f"{title(c.a)} ({percent(c, True).point} points)" for c in members])


def _sizes(analysis: Analysis, test: SplitResult) -> list[str]:
    """The smallest of every core's sizes against its largest."""
    parts = []
    for core, sized in sizes_by_core(ordered(test.saves.families())).items():
        small, large = min(sized), max(sized)
        c = test.principal.difference(sized[large], sized[small], analysis.endpoint, analysis.margin)
        number = percent(c, True)
        how = (
            "more shots"
            if c.low > 0
            else "fewer shots"
            if c.high < 0
            else "neither clearly more nor clearly fewer shots"
        )
        change = f"({number.point} points {number.span})"
        parts.append(f"{core_title(core)} saved {how} with {large} than with {small} {change}")
    return [f"Size: {'; '.join(parts)}."] if parts else []
