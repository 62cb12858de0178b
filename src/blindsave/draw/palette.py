"""Colours that can be told apart, also by the colour-blind: as many as are asked for, beside those already taken.

Every candidate is a hue and a lightness with one shade for white and one for dark ground. The next colour is always the
candidate whose nearest neighbour is farthest, as seen by ordinary eyes and by three kinds of colour-blind ones.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np

Shades = tuple[str, str]
"""A colour as hex on white and on dark ground."""
WHITE, DARK_GROUND = "#ffffff", "#14191e"
CONTRAST = 3.05
"""Least contrast of a colour with its ground."""
HUES, CHROMAS, LEAST_CHROMA = range(0, 360, 10), (0.10, 0.17), 0.07
LIGHTNESSES = ((0.36, 0.72), (0.45, 0.79), (0.54, 0.86), (0.63, 0.93))
"""On white, on dark ground; OKLab's scale from 0 to 1."""
EYES = np.array(
    # Ordinary; without red, green, blue cones (Machado, Oliveira and Fernandes, 2009), in linear RGB.
    [
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    ]
)
WEIGHTS = np.array([0.6, 1, 1, 3])
"""How distances count when colours are chosen: ordinary eyes ask for more than the smallest one, and hardly anybody is
blind to blue."""
# Ottosson's OKLab, in which equal distances look alike.
_LMS = np.array(
    [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
     [0.0883024619, 0.2817188376, 0.6299787005]]
)  # fmt: skip
_LAB = np.array(
    [[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
     [0.0259040371, 0.7827717662, -0.8086757660]]
)  # fmt: skip


def apart(count: int, taken: Sequence[Shades] = ()) -> list[Shades]:
    """That many colours, each as far as possible from those before it and from those taken."""
    candidates = _candidates()
    places = np.stack([_seen(*shades) for shades in candidates])
    nearest = np.full(len(candidates), np.inf)
    for shades in taken:
        nearest = np.minimum(nearest, _distance(places, _seen(*shades)))
    chosen: list[Shades] = []
    while len(chosen) < count:
        best = len(chosen) % len(candidates) if nearest.max() <= 0 else int(np.argmax(np.round(nearest, 6)))
        chosen.append(candidates[best])
        nearest = np.minimum(nearest, _distance(places, places[best]))
    return chosen


def separation(one: Shades, other: Shades) -> float:
    """How far two colours are apart for the eyes and on the ground where they are nearest; black and white: 1."""
    return float(_distance(_seen(*one)[None], _seen(*other), 1.0)[0])


def contrast(colour: str, ground: str) -> float:
    """The contrast ratio of two colours, 1 to 21."""
    dim, bright = sorted(float(_linear(one) @ [0.2126, 0.7152, 0.0722]) for one in (colour, ground))
    return (bright + 0.05) / (dim + 0.05)


def _seen(light: str, dark: str) -> np.ndarray:
    """Where every kind of eye sees both shades: (ground, eyes, 3)."""
    linear = np.stack([_linear(light), _linear(dark)])
    return _lab(np.clip(np.einsum("eij,gj->gei", EYES, linear), 0, 1))


def _distance(places: np.ndarray, one: np.ndarray, weights: float | np.ndarray = WEIGHTS) -> np.ndarray:
    return (weights * np.linalg.norm(places - one, axis=-1)).min(axis=(1, 2))


@cache
def _candidates() -> tuple[Shades, ...]:
    found: list[Shades] = []
    for on_white, on_dark in LIGHTNESSES:
        for chroma in CHROMAS:
            for hue in HUES:
                light, dark = _hex(on_white, chroma, hue), _hex(on_dark, chroma, hue)
                if light and dark and min(contrast(light, WHITE), contrast(dark, DARK_GROUND)) >= CONTRAST:
                    found.append((light, dark))
    return tuple(dict.fromkeys(found))


def _hex(lightness: float, chroma: float, hue: float) -> str | None:
    """The colour with as much of the chroma as screens can show; None where that would be grey."""
    turn = np.deg2rad(hue)
    while chroma >= LEAST_CHROMA:
        lab = np.array([lightness, chroma * np.cos(turn), chroma * np.sin(turn)])
        linear = np.linalg.solve(_LMS, np.linalg.solve(_LAB, lab) ** 3)
        if linear.min() >= 0 and linear.max() <= 1:
            gamma = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
            return "#" + "".join(f"{round(255 * part):02x}" for part in gamma.tolist())
        chroma -= 0.005
    return None


def _linear(colour: str) -> np.ndarray:
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def _lab(linear: np.ndarray) -> np.ndarray:
    return np.cbrt(linear @ _LMS.T) @ _LAB.T
