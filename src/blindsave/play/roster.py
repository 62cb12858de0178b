"""Who can be played against: shipped students, the teacher, the memoryless PPO actors and the scripted players."""

import threading
from dataclasses import dataclass
from typing import Any

from blindsave.diagnostics.probe import Probe, find_probe
from blindsave.errors import BadInput
from blindsave.policies import catalog
from blindsave.policies.scripted import SCRIPTED
from blindsave.policies.students.registry import PAPER_FAMILIES

PPO = "ppo"
REMEMBERS, GUESSES = "structured_k0", "feed_forward"
TITLES = {
    "feed_forward": "Feed-forward",
    "finite_stack_10": "Ten-step stack",
    "structured_k0": "Structured k = 0",
    "structured_k1": "Structured k = 1",
    "structured_k2": "Structured k = 2",
    "structured_k4": "Structured k = 4",
    "gru_n64": "GRU-64",
    "teacher": "Teacher",
    "ppo": "Memoryless PPO",
    "privileged": "Sees everything",
    "fixed_centre": "Stays central",
    "inactive": "Does nothing",
}


@dataclass(frozen=True, eq=False)
class Player:
    """A policy that can stand in goal; `probe` reads a believed puck from its memory, where one was fitted."""

    name: str
    policy: Any
    probe: Probe | None = None

    @property
    def title(self) -> str:
        """What the page calls it."""
        return title(self.name)


def title(name: str) -> str:
    """Friendly name of a policy: family and seed."""
    family, _, seed = name.partition("/")
    words = TITLES.get(family, family.replace("_", " "))
    return f"{words} ({seed})" if seed else words


class Roster:
    """The policies a visitor may choose; each is read once and shared, since policies are pure."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, Player] = {}
        self.names = available()

    def player(self, name: str) -> Player:
        """The player of this name; anything not offered is refused, so that no visitor can name a file."""
        if name not in self.names:
            raise BadInput("there is no such policy here")
        with self._lock:
            if name not in self._known:
                policy = load(name)
                self._known[name] = Player(name, policy, find_probe(name, policy))
            return self._known[name]

    def default_pair(self) -> tuple[str, str]:
        """One that remembers and one that guesses: k = 0 and feed-forward where shipped, else teacher and PPO."""
        remembers = self._first(REMEMBERS, "teacher", "privileged")
        return remembers, self._first(GUESSES, PPO, "fixed_centre")

    def _first(self, *families: str) -> str:
        for family in families:
            for name in self.names:
                if name.partition("/")[0] == family:
                    return name
        return self.names[0]


def available() -> tuple[str, ...]:
    """Names on offer: students by family in the study's order, teacher, PPO actors, scripted players."""
    order = {family: rank for rank, family in enumerate(PAPER_FAMILIES)}
    students = sorted(catalog.shipped(), key=lambda name: (order.get(name.partition("/")[0], len(order)), name))
    teacher = [catalog.TEACHER] if catalog.model_file(catalog.TEACHER).is_file() else []
    actors = sorted(f"{PPO}/{path.stem}" for path in (catalog.models_folder() / PPO).glob("*.safetensors"))
    return (*students, *teacher, *actors, "privileged", "fixed_centre", "inactive")


def load(name: str) -> Any:
    """The policy of a name on offer."""
    if name in SCRIPTED:
        return SCRIPTED[name]
    family, _, seed = name.partition("/")
    if family == PPO:
        return catalog.load_file(catalog.models_folder() / PPO / f"{seed}.safetensors")
    return catalog.load(name)
