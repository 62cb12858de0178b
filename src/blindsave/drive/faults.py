"""What a network does to packets, drawn from a seed: lost, doubled, swapped, damaged, cut, made up, silent."""

from dataclasses import dataclass, field, fields

import numpy as np

from blindsave.errors import BadInput

SHARES = ("loss", "duplicate", "reorder", "corrupt", "truncate", "garbage")


@dataclass(frozen=True)
class Faults:
    """Shares of packets, and two accidents."""

    loss: float = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0
    """Held back until the next packet has gone."""
    corrupt: float = 0.0
    """One bit turned."""
    truncate: float = 0.0
    garbage: float = 0.0
    """Followed by a packet of random bytes."""
    silence: tuple[int, int] = (0, 0)
    """No packet leaves from this one on, for so many."""
    clock_step: tuple[int, int] = (0, 0)
    """From this packet on the robot's clock is off by so many microseconds."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name in SHARES:
            if not 0 <= getattr(self, name) <= 1:
                raise BadInput(f"the share of packets in --{name} must be between 0 and 1, got {getattr(self, name)}")

    @property
    def any(self) -> bool:
        """Whether anything goes wrong at all."""
        return any(getattr(self, one.name) != one.default for one in fields(self) if one.name != "seed")


@dataclass
class Line:
    """One direction of a faulty connection: a packet goes in, what comes out at once is returned."""

    faults: Faults
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys((*SHARES, "silence"), 0))

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.faults.seed)
        self._held: bytes | None = None
        self._sent = 0

    def clock_error_us(self) -> int:
        """How far off the robot's clock is for the next packet."""
        start, step = self.faults.clock_step
        return step if step and self._sent >= start else 0

    def carry(self, packet: bytes) -> list[bytes]:
        """What the other end receives now."""
        self._sent += 1
        start, length = self.faults.silence
        if length and start <= self._sent - 1 < start + length:
            self.counts["silence"] += 1
            return []
        if not self.faults.any:
            return [packet]
        happens = {name: self._rng.random() < getattr(self.faults, name) for name in SHARES}
        for name, does in happens.items():
            self.counts[name] += does
        if happens["corrupt"]:
            at = int(self._rng.integers(len(packet)))
            packet = packet[:at] + bytes([packet[at] ^ (1 << int(self._rng.integers(8)))]) + packet[at + 1 :]
        if happens["truncate"]:
            packet = packet[: int(self._rng.integers(len(packet)))]
        leaving = [] if happens["loss"] else [packet] * (2 if happens["duplicate"] else 1)
        if happens["reorder"] and leaving and self._held is None:
            self._held, leaving = leaving[0], leaving[1:]
        elif self._held is not None:
            leaving, self._held = [*leaving, self._held], None
        if happens["garbage"]:
            leaving.append(self._rng.bytes(int(self._rng.integers(1, 300))))
        return leaving
