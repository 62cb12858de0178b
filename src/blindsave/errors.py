"""The one kind of exception a user should ever see."""


class BlindsaveError(Exception):
    """Something the user gave us is wrong; the message is one clear sentence that says what and where."""


class BadInput(BlindsaveError, ValueError):
    """A flag, action, shot, policy or number that cannot be used."""


class BadFile(BlindsaveError):
    """A file that is missing, damaged, foreign or changed."""
