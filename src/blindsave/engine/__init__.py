"""Where the work of a stage is done: in this process, by local workers, or on a Ray cluster."""

from blindsave.engine.choice import open_engine
from blindsave.engine.in_process import InProcess
from blindsave.engine.task import Dispatch, Engine, EventHandler, Output, Task, TaskEvent
from blindsave.engine.workers import Workers

__all__ = ["Dispatch", "Engine", "EventHandler", "InProcess", "Output", "Task", "TaskEvent", "Workers", "open_engine"]
