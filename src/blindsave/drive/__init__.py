"""A policy on a robot: a loop in C that answers packets, and the arena as the robot that sends them."""

from blindsave.drive.loop_process import DriveOptions, DriveProcess, replay
from blindsave.drive.robot import Robot
from blindsave.drive.sources import write_sources

__all__ = ["DriveOptions", "DriveProcess", "Robot", "replay", "write_sources"]
