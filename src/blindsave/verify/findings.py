"""What a verification says: what was looked at, what is wrong with which file, and what else one should know."""

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from blindsave.errors import BlindsaveError

CODE_CHANGED = "the code has changed since the freeze"


@dataclass(frozen=True)
class Failure:
    """One thing that is not as it must be."""

    file: str
    reason: str

    def __str__(self) -> str:
        return f"{self.file}: {self.reason}"


@dataclass(frozen=True)
class Verification:
    """Everything found in one study."""

    folder: str
    sealed: bool
    """Whether there is anything to verify: a freeze, a ledger, or a table of a test."""
    released: bool
    """Whether the ledger holds results."""
    checked: Mapping[str, int]
    failures: tuple[Failure, ...]
    notes: tuple[str, ...]
    absent: frozenset[str] = frozenset()
    """Policies (FAMILY/SEED) whose files are left out: nobody can play them here."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.failures

    @property
    def sentence(self) -> str:
        """What may be said of the seal, in one sentence; nothing else may say that a study was verified.

        It speaks of the evidence alone: a page made again with later code says the same.
        """
        if not self.ok:
            return f"Verification failed in {len(self.failures)} place(s); these results cannot be relied on."
        if not self.released:
            return "No test has been opened and written down, so there was no result to verify."
        seen = Counter(self.checked)
        return (
            f"Verified for this page: plan, freeze and {seen['ledger_lines']} ledger lines name each other; "
            f"{seen['checkpoints']} policies, {seen['datasets']} dataset manifests, validation and released tables are "
            f"those they name; {seen['tables']} tables of {seen['rows']:,} rows are complete."
            f"{''.join(f' Note: {note}.' for note in self.notes if not note.startswith(CODE_CHANGED))}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        found = {"checked": dict(self.checked), "failures": [asdict(failure) for failure in self.failures]}
        return {"ok": self.ok, **found, "notes": list(self.notes), "folder": self.folder}


class Findings:
    """Collects; a check that cannot even be made is a failure of its file, and the others go on."""

    def __init__(self) -> None:
        self.failures: list[Failure] = []
        self.notes: list[str] = []
        self.checked: Counter[str] = Counter()

    def fail(self, file: str, reason: str) -> None:
        """Something is wrong with a file."""
        self.failures.append(Failure(file, reason))

    def require(self, holds: bool, file: str, reason: str) -> None:
        """Something is wrong unless this holds."""
        if not holds:
            self.fail(file, reason)

    @contextlib.contextmanager
    def reading(self, file: str, what: str | None = None) -> Iterator[None]:
        """Look at a file, and count it as `what` where it could be read."""
        try:
            yield
        except BlindsaveError as error:
            self.fail(file, str(error))
        except (OSError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
            self.fail(file, f"is not what it should be ({type(error).__name__}: {error})")
        else:
            if what:
                self.checked[what] += 1
