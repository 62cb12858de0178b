"""Which policies a visitor may choose: shipped students, teacher, controls, classical rivals and scripted ones."""

import threading
from dataclasses import dataclass

from blindsave.diagnostics.probe import Probe, find_probe
from blindsave.draw.policy_looks import title
from blindsave.errors import BadInput
from blindsave.policies import catalog
from blindsave.policies.catalog import NamedPolicy
from blindsave.policies.classical.rivals import PLANNER, RIVALS

REMEMBERS, GUESSES = "structured_k0", "feed_forward"
SCRIPTED = (*RIVALS, PLANNER, "privileged", "fixed_centre", "inactive")


@dataclass(frozen=True, eq=False)
class Probed(NamedPolicy):
    """A policy with the probe that reads a believed puck from its memory, where one was fitted."""

    probe: Probe | None = None

    @property
    def title(self) -> str:
        """What the page calls it."""
        return title(self.name)


class Roster:
    """The policies on offer; each is read once and shared, since policies are pure."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, Probed] = {}
        self.names = available()

    def policy(self, name: str) -> Probed:
        """The policy of this name; anything not offered is refused, so that no visitor can name a file."""
        if name not in self.names:
            raise BadInput("there is no such policy here")
        with self._lock:
            if name not in self._known:
                found = catalog.resolve(name)
                self._known[name] = Probed(**vars(found), probe=find_probe(found))
            return self._known[name]

    def default_pair(self) -> tuple[str, str]:
        """One that remembers and one that guesses: k = 0 and feed-forward where shipped, else teacher and PPO."""
        remembers = self._first(REMEMBERS, catalog.TEACHER, "privileged")
        return remembers, self._first(GUESSES, catalog.CONTROL, "fixed_centre")

    def _first(self, *families: str) -> str:
        for family in families:
            for name in self.names:
                if name.partition("/")[0] == family:
                    return name
        return self.names[0]


def available() -> tuple[str, ...]:
    """Names on offer, those that were trained first."""
    return (*catalog.trained(), *SCRIPTED)
