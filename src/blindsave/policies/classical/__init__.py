"""The classical ladder: trackers that an engineer would write, each before the same planner. See docs/rivals.md."""
