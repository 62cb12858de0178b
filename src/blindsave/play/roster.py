"""Who may be chosen as goalkeeper: everything shipped, the scripted ones, and what the command line names.

A page names a goalkeeper by its key, and only keys on offer are known: no visitor can name a file.
"""

import itertools
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blindsave.diagnostics.probe import Probe, find_probe
from blindsave.draw.policy_looks import plain_words
from blindsave.errors import BadInput
from blindsave.policies import catalog
from blindsave.policies.catalog import NamedPolicy

REMEMBERS, GUESSES = "structured_k0", "feed_forward"
MOST_NAMED = 2


@dataclass(frozen=True, eq=False)
class Player:
    """A goalkeeper: its key, its policy, and the probe that reads a believed puck from its memory, if there is one."""

    key: str
    named: NamedPolicy
    probe: Probe | None = None

    @property
    def policy(self) -> Any:
        """What plays."""
        return self.named.policy

    @property
    def words(self) -> dict[str, str]:
        """What the page calls it: in plain words, with the technical name beside."""
        return words(self.key)


def words(key: str) -> dict[str, str]:
    """A key, what people read, and the technical name."""
    return {"key": key, "plain": plain_words(key.partition("@")[0]), "technical": key}


class Roster:
    """The policies on offer; each is read once and shared, since policies are pure.

    `named` are up to two policies (names or files) or studies (folders) that come first and make the pair of the first
    page; what is wrong with them is said here, before anybody waits for a page.
    """

    def __init__(self, named: Sequence[str] = ()) -> None:
        if len(named) > MOST_NAMED:
            raise BadInput(f"at most {MOST_NAMED} policies or studies can be named, got {len(named)}")
        self._lock = threading.Lock()
        self._known: dict[str, Player] = {}
        self._shipped = (*catalog.trained(), *catalog.NAMES)
        groups = [self._add(text) for text in named]
        own = [key for group in groups for key in group]
        self.keys = tuple(dict.fromkeys([*own, *self._shipped]))
        self.pair = self._pair(groups)

    def player(self, key: str) -> Player:
        """The goalkeeper of this key; anything not offered is refused."""
        if key not in self.keys:
            raise BadInput("there is no such goalkeeper here")
        with self._lock:
            if key not in self._known:
                found = catalog.resolve(key)
                self._known[key] = Player(key, found, find_probe(found))
            return self._known[key]

    def _add(self, text: str) -> list[str]:
        """Read a policy, or every policy of a study; their keys."""
        path = Path(text)
        if not text or not path.is_dir():
            return [self._keep(catalog.resolve(text), path.parent.name if path.is_file() else "")]
        files = study_files(path)
        if not files:
            raise BadInput(f"{text} holds no policies: a study's folder has them in models/")
        return [self._keep(catalog.from_file(file), path.resolve().name) for file in files]

    def _keep(self, found: NamedPolicy, place: str) -> str:
        """Take a policy in, under its own name where nobody else has it: `gru_n64/14303`, `gru_n64/14303@myfolder`."""
        name = found.name
        numbered = (f"{name}@{place}-{number}" for number in itertools.count(2))
        for key in itertools.chain((name, f"{name}@{place or 'named'}"), numbered):
            other = self._hash(key)
            if other in (None, found.sha256):
                self._known.setdefault(key, Player(key, found, find_probe(found)))
                return key
        raise AssertionError

    def _hash(self, key: str) -> str | None:
        """The hash of who has this key already."""
        if key in self._known:
            return self._known[key].named.sha256
        return catalog.resolve(key).sha256 if key in self._shipped else None

    def _pair(self, groups: Sequence[Sequence[str]]) -> tuple[str, str]:
        """Who plays first: what was named, or else one that remembers and one that guesses."""
        if len(groups) == 2:
            return self._of(groups[0], REMEMBERS), self._of(groups[1], REMEMBERS)
        if len(groups) == 1 and len(groups[0]) > 1:
            return self._of(groups[0], REMEMBERS), self._of(groups[0][::-1], GUESSES)
        remembers = self._first(REMEMBERS, catalog.TEACHER, "privileged")
        guesses = self._first(GUESSES, catalog.CONTROL, "fixed_centre")
        if not groups:
            return remembers, guesses
        (key,) = groups[0]
        return key, remembers if _family(key) == GUESSES else guesses

    def _of(self, group: Sequence[str], family: str) -> str:
        return next((key for key in group if _family(key) == family), group[0])

    def _first(self, *families: str) -> str:
        found = (key for family in families for key in self._shipped if _family(key) == family)
        return next(found, self._shipped[0])


def study_files(folder: Path) -> list[Path]:
    """The policies of a study's folder, or of a folder of models: students, teacher, memoryless controls."""
    models = folder / "models" if (folder / "models").is_dir() else folder
    teacher = models / catalog.TEACHER / f"{catalog.TEACHER}.safetensors"
    students = sorted(models.glob("students/*/*.safetensors"))
    return [*students, *([teacher] if teacher.is_file() else []), *catalog.control_files(models / catalog.CONTROL)]


def _family(key: str) -> str:
    return key.partition("@")[0].partition("/")[0]
