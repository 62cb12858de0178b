"""blindsave: a robot goalkeeper that saves air-hockey shots it cannot see."""

__version__ = "0.1.0"
