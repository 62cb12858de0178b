"""The one kind of exception a user should ever see."""

from pathlib import Path


class BlindsaveError(Exception):
    """Something the user gave us is wrong; the message is one clear sentence that says what and where."""


class BadInput(BlindsaveError, ValueError):
    """A flag, action, shot, policy or number that cannot be used."""


class BadFile(BlindsaveError):
    """A file that is missing, damaged, foreign or changed."""


class Damaged(BadFile):
    """An artifact or checkpoint whose bytes are not the ones that were written."""

    def __init__(self, sentence: str, piece: Path) -> None:
        super().__init__(sentence)
        self.piece = piece
        """The smallest thing that can be made again: an artifact's folder, or a checkpoint's file."""


class DiskFull(BlindsaveError):
    """There is no room left to write; nothing half written stays behind."""
