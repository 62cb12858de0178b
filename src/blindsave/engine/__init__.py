"""Where the work of a stage is done: in this process, by local workers, or on a Ray cluster."""

from blindsave.engine.choice import open_engine
from blindsave.engine.here import Here
from blindsave.engine.task import Engine, News, Output, Spread, Task, Tell
from blindsave.engine.workers import Workers

__all__ = ["Engine", "Here", "News", "Output", "Spread", "Task", "Tell", "Workers", "open_engine"]
