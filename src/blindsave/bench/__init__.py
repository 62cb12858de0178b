"""What is measured on a machine: speed, latency, coverage of the intervals. Describes, never decides."""
