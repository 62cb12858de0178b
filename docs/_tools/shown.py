"""What tools of several pages share: text between two marks of a page, pictures as small as they stay sharp."""

from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from blindsave.draw.policy_looks import LOOKS
from blindsave.errors import BadFile
from blindsave.report.figures.export import Looks, Plate, write

WIDTH, COLOURS = 1600, 96
"""Of pictures: as small as they stay sharp, and as a few curves need; many curves need more colours."""


def between(page: str, name: str, content: str) -> str:
    """The page with what is between its marks `<!-- name -->` and `<!-- end of name -->` replaced."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    head, found, rest = page.partition(begin)
    _, closed, tail = rest.partition(end)
    if not (found and closed):
        raise BadFile(f"the page has no place for {name}")
    return f"{head}{begin}{content}\n{end}{tail}"


def picture(plate: Plate, target: Path, looks: Looks = LOOKS, colours: int = COLOURS) -> None:
    """A figure on white ground."""
    with TemporaryDirectory() as folder:
        write(plate, Path(folder), looks)
        image = Image.open(Path(folder) / f"{plate.name}.png").convert("RGB")
        image = image.resize((WIDTH, WIDTH * image.height // image.width), Image.Resampling.LANCZOS)
        image.quantize(colours, dither=Image.Dither.NONE).save(target, optimize=True)


def points(estimate: float, low: float, high: float) -> str:
    """A difference in points with its interval."""
    return f"{100 * estimate:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"
