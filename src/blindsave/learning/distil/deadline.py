"""Work that has to stop at a given time and goes on in a later call."""

from blindsave.errors import BlindsaveError


class OutOfTime(BlindsaveError):
    """The deadline passed; what was done is kept, and the same call goes on from there."""
