"""Arithmetic with things that are not numbers yet: `+ - * /` hand themselves to a tracer, which records them."""

from typing import Any, Self


class Symbolic:
    """The operators of a symbol; the heirs say who records them."""

    tracer: Any

    __array_ufunc__ = None  # makes NumPy hand `array + symbol` to __radd__

    def __add__(self, other: Any) -> Self:
        return self.tracer.emit("add", self, other)

    def __radd__(self, other: Any) -> Self:
        return self.tracer.emit("add", other, self)

    def __sub__(self, other: Any) -> Self:
        return self.tracer.emit("sub", self, other)

    def __rsub__(self, other: Any) -> Self:
        return self.tracer.emit("sub", other, self)

    def __mul__(self, other: Any) -> Self:
        return self.tracer.emit("mul", self, other)

    def __rmul__(self, other: Any) -> Self:
        return self.tracer.emit("mul", other, self)

    def __truediv__(self, other: Any) -> Self:
        return self.tracer.emit("div", self, other)

    def __rtruediv__(self, other: Any) -> Self:
        return self.tracer.emit("div", other, self)

    def __neg__(self) -> Self:
        return self.tracer.emit("mul", self, -1.0)
