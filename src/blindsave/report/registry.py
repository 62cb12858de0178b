"""What the report is made of: a table or figure is a function that registers itself with its section of the page.

The registry of a package imports every module that lies in it, so that a new file is all a new table or figure takes.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Generic, NamedTuple, TypeVar

from blindsave.report.analysis import Analysis
from blindsave.report.sheet import Sheet

T = TypeVar("T")
Maker = TypeVar("Maker", bound=Callable[..., Any])


class Entry(NamedTuple):
    """How one table or figure is made, and where it is shown."""

    make: Callable[..., Any]
    needs: str
    place: dict[str, Any]


class Registry(Generic[T]):
    """The registered functions of one package, in the order of its modules and of the lines in them."""

    def __init__(self, package: str) -> None:
        self.package = package
        self._entries: list[Entry] = []

    def __call__(self, section: str, needs: str = "", **place: Any) -> Callable[[Maker], Maker]:
        """Register a function with its section; it is called where the analysis has the part it `needs`, with both."""

        def register(make: Maker) -> Maker:
            self._entries.append(Entry(make, needs, {"section": section, **place}))
            return make

        return register

    @property
    def entries(self) -> list[Entry]:
        """Everything registered; each is called by the name of its function."""
        for module in pkgutil.iter_modules(importlib.import_module(self.package).__path__, f"{self.package}."):
            importlib.import_module(module.name)
        return sorted(self._entries, key=lambda entry: entry.make.__module__)

    @property
    def names(self) -> list[str]:
        """What there is."""
        return [entry.make.__name__ for entry in self.entries]

    def made(self, analysis: Analysis, only: Sequence[str] = ()) -> Iterator[T]:
        """Everything for which there are results, or of it only what is named."""
        for make, needs, place in self.entries:
            if only and make.__name__ not in only:
                continue
            needed = [getattr(analysis, needs)] if needs else []
            found = None if None in needed else make(analysis, *needed)
            if found is not None:
                yield replace(found, **place)


tables: Registry[Sheet] = Registry("blindsave.report.sheets")
figures: Registry[Any] = Registry("blindsave.report.figures")
"""Of `Plate`s; they are defined where matplotlib is needed, which the tables do without."""
